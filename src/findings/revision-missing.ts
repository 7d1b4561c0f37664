import { revisionOf } from '../model/check.ts'
import type { PushSeen } from './finding.ts'

/** Finds a push without a revision to a check that has one: it cannot be ordered, so it never takes effect. */
export function revisionMissing({
  push,
  before,
  orderBy,
}: Pick<PushSeen, 'push' | 'before' | 'orderBy'>): string | undefined {
  const current = before === null ? null : revisionOf(before, orderBy)
  if (current === null || push.revision !== undefined) return undefined
  return `The push has no ${orderBy}, but the check is at ${orderBy} ${current}. Without ${orderBy} it cannot be told from an old push that arrives late, so it changes nothing. Send ${orderBy} with every push of a check once you have sent it.`
}
