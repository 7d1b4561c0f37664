import { contentOf, revisionOf } from '../model/check.ts'
import type { PushToCheck } from './finding.ts'

/** Finds a push without a revision to a check that has one: it cannot be ordered, so it never takes effect. */
export function revisionMissing({
  push,
  before,
  orderBy,
}: Pick<PushToCheck, 'push' | 'before' | 'orderBy'>): string | undefined {
  const current = revisionOf(before, orderBy)
  if (current === null || push.revision !== undefined) return undefined
  return `The push has no ${orderBy}, but the check is at ${orderBy} ${current}. It may be an old push that arrived late, so it changed nothing. Once a check has ${orderBy}, send it with every push.`
}

/** Finds one revision for two different states of a check. */
export function revisionReused({
  push,
  before,
  orderBy,
}: Pick<PushToCheck, 'push' | 'before' | 'orderBy'>): string | undefined {
  if (push.revision === undefined || push.revision !== revisionOf(before, orderBy)) return undefined
  if (contentOf(push) === contentOf(before)) return undefined
  return `A different state was already pushed with ${orderBy} ${push.revision}. The check may not show the newer of the two states. Increase ${orderBy} with every change of the check, and repeat it only in replays.`
}

/**
 * Finds a push that is older than the check by a revision that another state had before: the counter began again, so the
 * pushes change nothing. A check that comes back open for another party is `checkIdReused`.
 */
export function revisionRestarted({
  push,
  before,
  outcome,
  orderBy,
  earlierStates,
}: Pick<PushToCheck, 'push' | 'before' | 'outcome' | 'orderBy' | 'earlierStates'>): string | undefined {
  const { revision } = push
  const current = revisionOf(before, orderBy)
  if (outcome !== 'stale' || revision === undefined || revision === current) return undefined
  if (before.status === 'closed' && push.status === 'open') return undefined
  const same = earlierStates().filter((state) => revisionOf(state, orderBy) === revision)
  if (same.length === 0 || same.some((state) => contentOf(state) === contentOf(push))) return undefined
  return `Another state was already pushed with ${orderBy} ${revision}, and the check is at ${orderBy} ${current}, so this push changed nothing. Does ${orderBy} begin again, for example when the POS restarts? Increase it with every change of the check.`
}

/** Revisions from here on are Unix times, in seconds or finer. */
const FIRST_TIME = 1_000_000_000

/**
 * Finds a push whose revision cannot be compared with that of the check, so that it looks old: a number after a time, or
 * seconds after milliseconds. A push that was made before counts as a late copy.
 */
export function revisionsMixed({
  push,
  before,
  outcome,
  orderBy,
  earlierStates,
}: Pick<PushToCheck, 'push' | 'before' | 'outcome' | 'orderBy' | 'earlierStates'>): string | undefined {
  const { revision } = push
  const current = revisionOf(before, orderBy)
  if (outcome !== 'stale' || typeof revision !== 'number' || current === null) return undefined
  const ratio = typeof current === 'number' ? current / revision : Infinity
  if (ratio !== Infinity && (revision < FIRST_TIME || Math.abs(ratio / 1000 - 1) > 0.01)) return undefined
  if (earlierStates().some((state) => revisionOf(state, orderBy) === revision)) return undefined
  const mixed =
    ratio === Infinity ? 'a number after a time' : 'another unit, such as seconds after milliseconds'
  return `The push has ${orderBy} ${revision}, and the check is at ${orderBy} ${current}: ${mixed}. So the push looks old and changed nothing. Send ${orderBy} in one form from every place that pushes checks.`
}

/** Finds a push that reopens a closed check without a revision, so that it looks like a late arrival. */
export function reopenNeedsRevision({
  push,
  before,
  orderBy,
}: Pick<PushToCheck, 'push' | 'before' | 'orderBy'>): string | undefined {
  const reopens = before.status === 'closed' && push.status === 'open'
  if (!reopens || revisionOf(before, orderBy) !== null || push.revision !== undefined) return undefined
  return `The push would reopen a closed check, but neither the push nor the check has ${orderBy}. It may be an old push that arrived late, so it changed nothing. Send ${orderBy} with each push to reopen checks.`
}

/** Finds a push that restores an earlier state of the check: an overtaken retry, or an undone change. */
export function possibleLateRetry({
  push,
  before,
  outcome,
  orderBy,
  repeatsEarlier,
}: Pick<PushToCheck, 'push' | 'before' | 'outcome' | 'orderBy' | 'repeatsEarlier'>): string | undefined {
  const unordered = push.revision === undefined && revisionOf(before, orderBy) === null
  if (!unordered || outcome !== 'updated' || !repeatsEarlier) return undefined
  return `The push has an earlier state of the check. If it is a late retry, it can overwrite a newer state. Send ${orderBy} with each push, so that late retries change nothing. Ignore this finding if the change was intended.`
}
