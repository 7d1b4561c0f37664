import type { Check, Push } from '../model/check.ts'
import type { FindingCode } from '../model/finding-code.ts'
import { diffItems, type ItemDiff } from '../model/item-diff.ts'

/** The codes of contract section 11 that a push and what came before it can show; the others take a sequence of requests. */
export type PushFindingCode = Exclude<FindingCode, 'conflict_ignored' | 'no_idempotent_retry'>

/** Something in a push that its sender should look at. `message` says what, why it matters and what to do. */
export interface Finding {
  code: FindingCode
  message: string
}

/** A push as it was seen, with what it met. */
export interface PushSeen {
  /** The JSON of the request, before unknown fields were dropped. */
  body: unknown
  push: Push
  /** The check that the push met; `null` for a new one. */
  before: Check | null
  outcome: 'created' | 'updated' | 'unchanged' | 'stale' | 'conflict'
  /** Whether the check was once as pushed, and has changed since. */
  repeatsEarlier: boolean
}

/** What it takes to see how a push follows from the state that it met. */
export type Following = Pick<PushSeen, 'push' | 'before' | 'outcome'>

/** Looks at a push for one kind of mistake: what to say about it, or nothing. */
export type Rule = (seen: PushSeen) => string | undefined

/**
 * What a push that follows the state before it does to the items; `undefined` for one that does not. A stale push is an
 * older state, in which what has been added since is missing, and nothing is wrong with that.
 */
export function changeOf({ push, before, outcome }: Following): ItemDiff | undefined {
  const follows = outcome === 'updated' || outcome === 'conflict'
  return before !== null && follows ? diffItems(before.items, push.items) : undefined
}

/** Names a few of many, so that a message stays readable: `a, b, c and 4 more`. */
export function some(names: readonly string[], limit = 3): string {
  const rest = names.length - limit
  return names.slice(0, limit).join(', ') + (rest > 0 ? ` and ${rest} more` : '')
}
