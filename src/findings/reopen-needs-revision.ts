import { revisionOf } from '../model/check.ts'
import type { PushSeen } from './finding.ts'

/** Finds a push that reopens a closed check without a revision, so that it looks like a late arrival. */
export function reopenNeedsRevision({
  push,
  before,
  orderBy,
}: Pick<PushSeen, 'push' | 'before' | 'orderBy'>): string | undefined {
  const reopens = before?.status === 'closed' && push.status === 'open'
  if (!reopens || revisionOf(before, orderBy) !== null || push.revision !== undefined) return undefined
  return `The check is closed and the push would reopen it, but neither has ${orderBy}. That may be an old push that arrives late, so it changes nothing. Send ${orderBy} with each push to be able to reopen a check.`
}
