import type { PushSeen } from './finding.ts'

/** A closed check that is pushed as open, with nothing to tell a reopening from a late arrival. */
export function reopenNeedsRevision({ push, before }: Pick<PushSeen, 'push' | 'before'>): string | undefined {
  const reopens = before?.status === 'closed' && push.status === 'open'
  if (!reopens || before.revision !== null || push.revision !== undefined) return undefined
  return 'The check is closed and the push would reopen it, but neither has a revision. That may be an old push that arrives late, so it changes nothing. Send a revision with each push to be able to reopen a check.'
}
