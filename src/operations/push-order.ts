import { contentOf, sameContent, type Check, type Push } from '../model/check.ts'

/** Where a push stands to the current state: it replaces it, repeats it, or comes too late. */
export type Order = 'newer' | 'same' | 'stale'

/**
 * Orders a push against the current state, so that pushes with revisions converge in whatever order they arrive
 * (specification section 4, rule 2; contract section 6, steps 1 and 2).
 */
export function order(current: Check, push: Push): Order {
  const same = sameContent(current, push)
  const incoming = push.revision ?? null
  if (current.revision === null) return incoming === null ? byArrival(current, push, same) : 'newer'
  if (incoming === null) return same ? 'same' : 'stale'
  if (incoming !== current.revision) return incoming > current.revision ? 'newer' : 'stale'
  return same ? 'same' : byContent(current, push)
}

/** Without revisions the last to arrive counts, but the end of a meal is final. */
function byArrival(current: Check, push: Push, same: boolean): Order {
  if (same) return 'same'
  return current.status === 'closed' && push.status === 'open' ? 'stale' : 'newer'
}

/** One revision, two contents: a sender's mistake. The greater text wins, whichever comes first. */
function byContent(current: Check, push: Push): Order {
  return contentOf(push) > contentOf(current) ? 'newer' : 'stale'
}
