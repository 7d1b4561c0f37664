import { contentOf, revisionOf, sameContent, type OrderedPush, type StoredCheck } from '../model/check.ts'
import { isLater } from '../model/revision.ts'

/** Order of a push relative to the current state: newer, the same, or stale. */
export type Order = 'newer' | 'same' | 'stale'

/**
 * Compares a push with the current state, so that pushes with revisions converge in any order of arrival. See
 * specification section 4, rule 2, and contract section 6, steps 1 and 2. `orderBy` is the field of the push's
 * revision.
 */
export function order(current: StoredCheck, push: OrderedPush, orderBy: string): Order {
  const same = sameContent(current, push)
  const incoming = push.revision ?? null
  const known = revisionOf(current, orderBy)
  if (known === null) return incoming === null ? byArrival(current, push, same) : 'newer'
  if (incoming === null) return same ? 'same' : 'stale'
  if (incoming !== known) return isLater(incoming, known) ? 'newer' : 'stale'
  return same ? 'same' : byContent(current, push)
}

/** Without revisions the last arrival wins, but a closed check stays closed. */
function byArrival(current: StoredCheck, push: OrderedPush, same: boolean): Order {
  if (same) return 'same'
  return current.status === 'closed' && push.status === 'open' ? 'stale' : 'newer'
}

/** Decides between two contents with one revision, a sender's mistake: the greater text wins in any order. */
function byContent(current: StoredCheck, push: OrderedPush): Order {
  return contentOf(push) > contentOf(current) ? 'newer' : 'stale'
}
