import { contentOf, revisionOf, sameContent, type OrderedPush, type StoredCheck } from '../model/check.ts'
import { isLater } from '../model/revision.ts'

/** Where a push stands to the current state: it replaces it, repeats it, or comes too late. */
export type Order = 'newer' | 'same' | 'stale'

/**
 * Orders a push against the current state, so that pushes with revisions converge in whatever order they arrive
 * (specification section 4, rule 2; contract section 6, steps 1 and 2). `orderBy` is the field that the push's revision
 * was read from.
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

/** Without revisions the last to arrive counts, but the end of a meal is final. */
function byArrival(current: StoredCheck, push: OrderedPush, same: boolean): Order {
  if (same) return 'same'
  return current.status === 'closed' && push.status === 'open' ? 'stale' : 'newer'
}

/** One revision, two contents: a sender's mistake. The greater text wins, whichever comes first. */
function byContent(current: StoredCheck, push: OrderedPush): Order {
  return contentOf(push) > contentOf(current) ? 'newer' : 'stale'
}
