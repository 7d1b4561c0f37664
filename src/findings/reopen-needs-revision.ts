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
  return `The push would reopen a closed check, but neither the push nor the check has ${orderBy}. It may be an old push that arrived late, so it changed nothing. Send ${orderBy} with each push to reopen checks.`
}
