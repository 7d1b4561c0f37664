import type { PushSeen } from './finding.ts'

/** A push without a revision to a check that has one: it cannot be ordered, so it never takes effect. */
export function revisionMissing({ push, before }: Pick<PushSeen, 'push' | 'before'>): string | undefined {
  const current = before?.revision ?? null
  if (current === null || push.revision !== undefined) return undefined
  return `The push has no revision, but the check is at revision ${current}. Without one it cannot be told from an old push that arrives late, so it changes nothing. Send a revision with every push of a check once you have sent one.`
}
