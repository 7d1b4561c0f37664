import { contentOf, revisionOf } from '../model/check.ts'
import type { PushSeen } from './finding.ts'

/** Finds one revision for two different states of a check. */
export function revisionReused({
  push,
  before,
  orderBy,
}: Pick<PushSeen, 'push' | 'before' | 'orderBy'>): string | undefined {
  if (before === null || push.revision === undefined) return undefined
  if (push.revision !== revisionOf(before, orderBy) || contentOf(push) === contentOf(before)) return undefined
  return `A different state was already pushed with ${orderBy} ${push.revision}. The check may not show the newer of the two states. Increase ${orderBy} with every change of the check, and repeat it only in replays.`
}
