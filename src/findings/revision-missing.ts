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
  return `The push has no ${orderBy}, but the check is at ${orderBy} ${current}. It may be an old push that arrived late, so it changed nothing. Once a check has ${orderBy}, send it with every push.`
}
