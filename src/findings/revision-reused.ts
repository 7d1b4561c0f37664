import { contentOf } from '../model/check.ts'
import type { PushSeen } from './finding.ts'

/** One revision for two different states of a check. */
export function revisionReused({ push, before }: Pick<PushSeen, 'push' | 'before'>): string | undefined {
  if (before === null || push.revision === undefined || push.revision !== before.revision) return undefined
  if (contentOf(push) === contentOf(before)) return undefined
  return `Revision ${push.revision} was pushed before with another content. Which of the two counts has nothing to do with which is newer. Raise the revision with every change of the check, and keep it only for replays.`
}
