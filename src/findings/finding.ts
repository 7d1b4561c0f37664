import type { OrderedPush, PushedItem, StoredCheck } from '../model/check.ts'
import type { PushOutcome } from '../model/simulator/request-entry.ts'
import type { FindingCode } from '../model/simulator/report.ts'
import { diffItems, type ItemDiff } from '../model/check-diff.ts'

/** Codes of contract section 11 that one push and its predecessors can show; the others need a sequence of requests. */
export type PushFindingCode = Exclude<
  FindingCode,
  | 'conflict_ignored'
  | 'no_idempotent_retry'
  | 'push_refused'
  | 'invalid_push_repeated'
  | 'paid_not_closed'
  | 'item_on_two_checks'
  | 'duplicate_check'
>

/** The answer to a push that was refused with 4xx: its status, and `error.code` and `error.message` of its body. */
export interface PushRefusal {
  status: number
  code: string
  message: string
}

/** A push and the check before it. */
export interface PushSeen {
  /** The JSON of the request, before unknown fields were dropped. */
  body: unknown
  push: OrderedPush
  /** The check before the push; `null` for a new one. */
  before: StoredCheck | null
  outcome: PushOutcome
  /** The field that orders pushes: `revision`, unless `start --order-by` names another. */
  orderBy: string
  /** True when the check had this state before and has changed since. */
  repeatsEarlier: boolean
  /** Time of the push by the service's clock. */
  now: Date
  /** Returns the states of the check before and after its earlier pushes that are still in the request log. */
  earlierStates: () => readonly StoredCheck[]
}

/** Facts about a push from earlier requests. */
type PushHistory = Pick<PushSeen, 'repeatsEarlier' | 'earlierStates'>

/** A push as it is judged without earlier requests. */
export type PushJudged = Omit<PushSeen, keyof PushHistory>

/** A push to a check that was there, with the changes to its items, if the push does more than add items. */
export interface PushToCheck extends PushSeen {
  before: StoredCheck
  change: ItemDiff | undefined
}

/** Checks a push for one kind of problem; returns its description, or nothing. */
export type Rule<Seen> = (seen: Seen) => string | undefined

/** Returns true when a push is newer than the stored state, whether it was accepted or refused. */
export function isNewer(outcome: PushToCheck['outcome']): boolean {
  return outcome === 'updated' || outcome === 'conflict'
}

/**
 * Returns a push's changes to the items of the previous state. Returns `undefined` when the push keeps all items and
 * names. A stale push is an older state without later additions, and correct.
 */
export function changeOf({
  push,
  before,
  outcome,
}: Pick<PushToCheck, 'push' | 'before' | 'outcome'>): ItemDiff | undefined {
  if (!isNewer(outcome) || keepsNames(before.items, push.items)) return undefined
  return diffItems(before.items, push.items)
}

/**
 * Returns true when all items keep their place and name, as in most pushes. A full comparison takes as long as the
 * decision.
 */
function keepsNames(before: readonly PushedItem[], after: readonly PushedItem[]): boolean {
  return before.every(
    ({ external_id, name }, index) =>
      external_id === after[index]?.external_id && name === after[index]?.name,
  )
}

/** Names a few of many, so that a message stays readable: `a, b, c and 4 more`. */
export function some(names: readonly string[], limit = 3): string {
  const rest = names.length - limit
  return names.slice(0, limit).join(', ') + (rest > 0 ? ` and ${rest} more` : '')
}

/** Returns a name without differences in case and blanks: a name that was tidied up is the same name. */
export function plainName(name: string): string {
  return name.normalize('NFKC').toLowerCase().replaceAll(/\s+/g, ' ').trim()
}
