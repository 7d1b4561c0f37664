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
  return `The push brings the check back to a state that it has had before. If it is a retry that a newer push has overtaken, the newer state is now lost. Send ${orderBy} with each push, and a late retry changes nothing; if the change was meant, ignore this.`
}
