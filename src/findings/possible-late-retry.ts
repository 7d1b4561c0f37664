import { revisionOf } from '../model/check.ts'
import type { PushSeen } from './finding.ts'

/** Finds a push of an earlier state of the check: an overtaken retry, or an undone change. */
export function possibleLateRetry({
  push,
  before,
  outcome,
  orderBy,
  repeatsEarlier,
}: Omit<PushSeen, 'body'>): string | undefined {
  const unordered = push.revision === undefined && (before === null || revisionOf(before, orderBy) === null)
  const takesEffect = outcome === 'updated' || outcome === 'conflict'
  if (!unordered || !takesEffect || !repeatsEarlier) return undefined
  return `The push returns the check to an earlier state. If it is a late retry, it has overwritten a newer state. Send ${orderBy} with each push, so that late retries change nothing. Ignore this finding if the change was intended.`
}
