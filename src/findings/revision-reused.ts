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
  return `Another content was pushed before with ${orderBy} ${push.revision}. Which of the two counts has nothing to do with which is newer. Raise ${orderBy} with every change of the check, and keep it only for replays.`
}
