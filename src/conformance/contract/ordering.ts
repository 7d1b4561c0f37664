import { isSuccess, type Answer } from './ask.ts'
import { totalsOf } from './fields.ts'
import { Broken, must } from './outcome.ts'
import { holds } from './shape.ts'
import type { Item, Target } from './target.ts'

/** Orders of arrival of three states, 3 being the newest. Each ends with that one. */
export const orders = [
  [1, 3, 2],
  [2, 1, 3],
  [2, 3, 1],
  [3, 1, 2],
  [3, 2, 1],
  [3, 1, 1, 2, 3],
  [2, 3, 2, 1, 2],
]

/**
 * Pushes three states in their order; resolves with the totals that GET shows as they were pushed, by name.
 * @throws NotChecked where pushes carry nothing that orders them.
 */
export function inOrder(target: Target): Promise<readonly string[]> {
  return target.once('in order', async () => {
    // A service that takes any text for its ordering field may still mean times, or numbers.
    const ordered = (): ReturnType<typeof arrive> =>
      arrive(target, [1, 2, 3]).catch((error: unknown) => {
        if (!(error instanceof Broken && target.isOrderGuessed() && target.orderOtherwise())) throw error
        return ordered()
      })
    const { check, newest } = await ordered()
    const seen = await target.read(check)
    return Object.entries(newest).flatMap(([name, cents]) => (holds(seen, cents) ? [name] : []))
  })
}

/** @throws Broken unless each order of arrival ends with the newest state that arrived. */
export async function converge(target: Target, arrivals: readonly (readonly number[])[]): Promise<void> {
  const followed = await inOrder(target)
  for (const places of arrivals) {
    const { check, newest } = await arrive(target, places)
    const isShown = await target.eventually(
      () => target.read(check),
      (seen) => followed.every((name) => holds(seen, newest[name])),
    )
    const told = followed.join(', ')
    must(isShown !== undefined, `States ${places.join(', ')} arrived. GET does not show the newest ${told}.`)
  }
}

/** Pushes states in an order. Resolves with the totals of the newest. @throws Broken when the items are not the newest. */
async function arrive(target: Target, places: readonly number[]) {
  const check = target.freshCheck()
  const [a, b, c] = ['a', 'b', 'c'].map((name) => check.item(name)) as [Item, Item, Item]
  const states = [[a], [a, b], [{ ...b, quantity: 3 }, c]]
  const bodies = states.map((items, index) => target.ordered(target.body(items), index + 1))
  for (const place of places) {
    const answer = await target.ask('PUT', check.path, { json: bodies[place - 1] })
    requireTaken(answer, places)
  }
  const last = Math.max(...places) - 1
  const newest = states[last] ?? []
  try {
    await target.shows(check, [a, b, c], newest)
  } catch (error) {
    if (!(error instanceof Broken)) throw error
    throw new Broken(`States ${places.join(', ')} arrived. ${error.message}`)
  }
  return { check, newest: Object.fromEntries(totalsOf(bodies[last])) }
}

/** An older push may be refused with a conflict of its own: what counts is the state. A newer one may not. */
function requireTaken(answer: Answer, places: readonly number[]): void {
  const isConflict = answer.status === 409 || answer.status === 412
  must(
    isSuccess(answer) || isConflict,
    `A push of the states ${places.join(', ')} was answered ${answer.status}.`,
  )
}
