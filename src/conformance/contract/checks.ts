import { isSuccess, type Answer } from './ask.ts'
import type { ContractCase } from './case.ts'
import { Broken, must, NotChecked } from './outcome.ts'
import { differences, itemEntries, nested, timeless } from './shape.ts'
import type { Item, Target, TrialCheck } from './target.ts'

/**
 * Pushes a check with the fields of the specification. @throws Broken when it is refused, NotChecked when the service
 * accepts a body that is not JSON as well, so that accepting means nothing.
 */
export function accepted(target: Target): Promise<void> {
  return target.once('accepted', async () => {
    const check = target.freshCheck()
    const items = [check.item('a'), check.item('b', { price_cents: 700 })]
    await target.push(check, target.body(items)).catch((error: unknown) => {
      if (!target.orderByTime()) throw error
      return target.push(check, target.body(items))
    })
    const broken = await target.ask('PUT', target.freshCheck().path, { body: '{' })
    const keyless = await target.ask('PUT', target.freshCheck().path, { body: '{', authorization: null })
    if (isSuccess(broken) && isSuccess(keyless))
      throw new NotChecked(
        'The service accepts a push that is not JSON and has no key, so accepting means nothing.',
      )
  })
}

/** Pushes two items, then one other. @throws Broken when the check is not the second push, NotChecked when it cannot be read. */
export function replaced(target: Target): Promise<void> {
  return target.once('replaced', async () => {
    const check = target.freshCheck()
    const [a, b, c] = ['a', 'b', 'c'].map((name) => check.item(name)) as [Item, Item, Item]
    await target.push(check, target.body([a, b]))
    await target.shows(check, [a, b, c], [a, b])
    await target.push(check, target.body([c]))
    await target.shows(check, [a, b, c], [c])
  })
}

/** Specification, section 4: the rules of `PUT /checks/external/{external_check_id}`. */
export const checks: readonly ContractCase[] = [
  {
    group: 'checks',
    id: 'accepted',
    title: 'a push with the fields of the specification is accepted',
    basis: 'specification',
    section: 'section 4: PUT /checks/external/{external_check_id}',
    check: accepted,
  },
  {
    group: 'checks',
    id: 'full_state',
    title: 'a push replaces the whole check',
    basis: 'specification',
    section: 'section 4: the body is the complete current state, not a delta',
    control: accepted,
    check: replaced,
  },
  {
    group: 'checks',
    id: 'replay',
    title: 'a replay of the same push changes nothing',
    basis: 'specification',
    section: 'section 4, rule 1: replaying an identical call has no effect',
    control: replaced,
    async check(target) {
      const check = target.freshCheck()
      const items = [check.item('a'), check.item('b')]
      const body = target.body(items)
      await target.push(check, body)
      await target.shows(check, items, items)
      const before = await snapshot(target, check)
      await target.push(check, body, body)
      await target.shows(check, items, items)
      const changed = await changedSince(target, check, before)
      must(changed === undefined, `After two replays, GET shows another value at ${changed}.`)
    },
  },
  {
    group: 'checks',
    id: 'matched_by_id',
    title: 'items are matched by external_id',
    basis: 'specification',
    section: 'section 4, rule 3: items are diffed by external_id',
    control: replaced,
    async check(target) {
      const check = target.freshCheck()
      const [a, b] = [check.item('a'), check.item('b')]
      const renamed = { ...a, name: 'Dish z', price_cents: 950 }
      const entriesOf = async (id: string) =>
        itemEntries(await target.read(check), [id], target.profile.fields).get(id) ?? []
      await target.push(check, target.body([a, b]))
      await target.shows(check, [a, b], [a, b])
      // Names and forms of fields are not shown, so only values that are shown as they were pushed can be followed.
      const before = await entriesOf(a.external_id)
      const followed = (['name', 'price_cents'] as const).filter((field) => holds(before, a[field]))
      if (followed.length === 0)
        throw new NotChecked('GET shows neither name nor price of an item as it was pushed.')
      await target.push(check, target.body([renamed, b]))
      const after = await target.eventually(
        () => entriesOf(a.external_id),
        (entries) => followed.every((field) => holds(entries, renamed[field])),
      )
      must(
        after !== undefined,
        `An item that was pushed with another ${followed.join(' and ')} did not change.`,
      )
      must(after.length === 1, `An item that was changed stands in the check ${after.length} times.`)
      // A service may refuse two items of one name; one that accepts them has two items.
      const twin = { ...b, name: renamed.name }
      const { status } = await target.ask('PUT', check.path, { json: target.body([renamed, twin]) })
      if (isSuccess({ status })) await target.shows(check, [a, b], [a, b])
    },
  },
  {
    group: 'checks',
    id: 'in_order',
    title: 'pushes that arrive in their order end with the newest',
    basis: 'specification',
    section: 'section 4: the body is the complete current state, sent on every change',
    control: replaced,
    check: inOrder,
  },
  {
    group: 'checks',
    id: 'order',
    title: 'an older push that arrives late does not replace a newer one',
    basis: 'specification',
    section: 'section 4, rule 2: out-of-order updates converge on the same state',
    control: inOrder,
    check: (target) => converge(target, [[2, 1]]),
  },
  {
    group: 'checks',
    id: 'convergence',
    title: 'three pushes in any order, with repeats, end in one state',
    basis: 'specification',
    section: 'section 1: updates that arrive out of order converge on the same final state',
    control: inOrder,
    check: (target) => converge(target, orders),
  },
  {
    group: 'checks',
    id: 'arrival_order',
    title: 'an identical push that arrives again after a newer one',
    section: 'section 2: no field that orders pushes is shown',
    async observe(target) {
      const check = target.freshCheck()
      const [a, b] = [check.item('a'), check.item('b')]
      const first = target.body([a])
      await target.push(check, first, target.body([a, b]))
      const { status } = await target.ask('PUT', check.path, { json: first })
      return `answered ${status}`
    },
  },
  {
    group: 'checks',
    id: 'success_status',
    title: 'the status of a push',
    section: 'section 4: success status code and body are not shown',
    async observe({ ask, freshCheck, body }) {
      const check = freshCheck()
      const created = await ask('PUT', check.path, { json: body([check.item('a')]) })
      const updated = await ask('PUT', check.path, { json: body([check.item('b')]) })
      return `${created.status} for a new check, ${updated.status} for an update`
    },
  },
  observed('odd_totals', 'totals that do not add up', {
    totals: { subtotal_cents: 1, tax_cents: 1, total_cents: 9 },
  }),
  observed('unknown_field', 'a field that the specification does not show', { covers: 2 }),
  observed('unknown_status', 'a status that the specification does not show', { status: 'paused' }),
  observed('no_items', 'a check without items', { items: [] }),
]

/** Whether a value stands anywhere inside another. */
function holds(inside: unknown, value: unknown): boolean {
  return [...nested(inside)].some((one) => one.value === value)
}

/** A check as it is read, with the paths that differ between two reads although nothing happened. */
export interface Snapshot {
  check: unknown
  volatile: ReadonlySet<string>
}

/** Reads a check twice. @throws NotChecked when it cannot be read. */
export async function snapshot(target: Target, check: TrialCheck): Promise<Snapshot> {
  const [one, other] = [timeless(await target.read(check)), timeless(await target.read(check))]
  return { check: other, volatile: new Set(differences(one, other)) }
}

/** The first path that differs from a snapshot, other than those that always do. */
export async function changedSince(
  target: Target,
  check: TrialCheck,
  before: Snapshot,
): Promise<string | undefined> {
  const now = timeless(await target.read(check))
  return differences(before.check, now).find((path) => !before.volatile.has(path))
}

/** Orders of arrival of three states, 3 being the newest. Each ends with that one. */
const orders = [
  [1, 3, 2],
  [2, 1, 3],
  [2, 3, 1],
  [3, 1, 2],
  [3, 2, 1],
  [3, 1, 1, 2, 3],
  [2, 3, 2, 1, 2],
]

/** Pushes three states in their order. @throws NotChecked where pushes carry nothing that orders them. */
function inOrder(target: Target): Promise<void> {
  return target.once('in order', () => converge(target, [[1, 2, 3]]))
}

/** @throws Broken unless each order of arrival ends with the newest state that arrived. */
async function converge(target: Target, arrivals: readonly (readonly number[])[]): Promise<void> {
  for (const places of arrivals) {
    const check = target.freshCheck()
    const [a, b, c] = ['a', 'b', 'c'].map((name) => check.item(name)) as [Item, Item, Item]
    const states = [[a], [a, b], [b, c]]
    const bodies = states.map((items, index) => target.ordered(target.body(items), index + 1))
    for (const place of places) {
      const answer = await target.ask('PUT', check.path, { json: bodies[place - 1] })
      requireTaken(answer, places)
    }
    const newest = states[Math.max(...places) - 1] ?? []
    try {
      await target.shows(check, [a, b, c], newest)
    } catch (error) {
      if (!(error instanceof Broken)) throw error
      throw new Broken(`States ${places.join(', ')} arrived. ${error.message}`)
    }
  }
}

/** An older push may be refused with a conflict of its own: what counts is the state. A newer one may not. */
function requireTaken(answer: Answer, places: readonly number[]): void {
  const isConflict = answer.status === 409 || answer.status === 412
  must(
    isSuccess(answer) || isConflict,
    `A push of the states ${places.join(', ')} was answered ${answer.status}.`,
  )
}

function observed(id: string, title: string, changes: object): ContractCase {
  return {
    group: 'checks',
    id,
    title,
    section: 'section 2: the bounds and allowed values of check fields are not shown',
    async observe({ ask, freshCheck, body }) {
      const check = freshCheck()
      return `answered ${(await ask('PUT', check.path, { json: body([check.item('a')], changes) })).status}`
    },
  }
}
