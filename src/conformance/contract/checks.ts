import { TRIAL_PREFIX } from '../../model/trial-check.ts'
import { isSuccess, type Answer } from './ask.ts'
import type { ContractCase } from './case.ts'
import { Broken, must, NotChecked } from './outcome.ts'
import { at, differences, holds, itemEntries, swapCase, timeless } from './shape.ts'
import type { Item, Target, TrialCheck } from './target.ts'

/**
 * Pushes a check with the fields of the specification. @throws Broken when it is refused, NotChecked when the service
 * accepts a body that is not JSON as well, so that accepting means nothing.
 */
export function accepted(target: Target): Promise<void> {
  return target.once('accepted', async () => {
    const check = target.freshCheck()
    const items = [check.item('a'), check.item('b', { price_cents: 700 })]
    const push = (): Promise<void> =>
      target.push(check, target.body(items)).catch((error: unknown) => {
        if (!target.orderOtherwise()) throw error
        return push()
      })
    await push()
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

/** Beyond ASCII, beyond Latin-1 and beyond the basic plane: a signature over other bytes than those sent is seen. */
const TEXT = 'à la crème 🍣'

/**
 * Pushes a new check with one item whose note has such text, or a plain one where the service refuses it: which texts are
 * allowed is not shown. @throws Broken when the plain one is refused, too.
 */
export async function pushText(target: Target, check: TrialCheck): Promise<Item> {
  const plain = check.item('a')
  const item = { ...plain, note: TEXT }
  const answer = await target.ask('PUT', check.path, { json: target.body([item]) })
  if (isSuccess(answer)) return item
  await target.push(check, target.body([plain]))
  return plain
}

/** A new check with one item. */
async function pushed(target: Target): Promise<[TrialCheck, Item]> {
  const check = target.freshCheck()
  const item = check.item('a')
  await target.push(check, target.body([item]))
  await target.shows(check, [item], [item])
  return [check, item]
}

/** @throws NotChecked when the service refuses the push, whose content the specification does not show. */
async function pushIfAllowed(target: Target, check: TrialCheck, json: object, what: string): Promise<void> {
  const { status } = await target.ask('PUT', check.path, { json })
  if (!isSuccess({ status })) throw new NotChecked(`The service refuses ${what} (${status}).`)
}

async function entriesOf(
  target: Target,
  check: TrialCheck,
  { external_id: id }: Item,
): Promise<readonly unknown[]> {
  return itemEntries(await target.read(check), [id], target.profile.fields).get(id) ?? []
}

/** The table of a push that moves a check: no other check of a run has its number. */
export function otherTable({ id }: TrialCheck): { table: { number: string } } {
  return { table: { number: String(9000 + Number(id.split('-').at(-1))) } }
}

/** The totals of a body, by name. */
function totalsOf(body: object | undefined): [name: string, cents: unknown][] {
  return Object.entries(at(body, 'totals') ?? {})
}

/** A field that a push changes: its name, and its value before and after. */
type Change = readonly [name: string, was: unknown, is: unknown]

/**
 * Has fields changed, and follows those that were shown as they were pushed, since names and forms are not shown.
 * @throws Broken unless the new values are shown.
 */
async function requireFollowed(
  target: Target,
  look: () => Promise<unknown>,
  changes: readonly Change[],
  push: () => Promise<boolean>,
): Promise<void> {
  const before = await look()
  const followed = changes.filter(([, was, is]) => holds(before, was) && !holds(before, is))
  if (!(await push())) return
  let stale: readonly Change[] = followed
  await target.eventually(
    async () => {
      const seen = await look()
      return (stale = followed.filter(([, , is]) => !holds(seen, is)))
    },
    ({ length }) => length === 0,
  )
  const names = stale.map(([name]) => name).join(' and ')
  must(stale.length === 0, `A push changed ${names}, and GET does not show the new value.`)
}

/** Changes fields of a check and of an item, one push after the other. @throws Broken where GET keeps an old value. */
async function fieldsReplaced(target: Target): Promise<void> {
  const check = target.freshCheck()
  const [a, b] = [check.item('a', { quantity: 7 }), check.item('b')]
  const next = { ...a, quantity: 4, note: target.profile.item?.note === undefined ? 'no salt' : a.note }
  const [was, is] = [target.body([a, b]), target.body([next, b])]
  const put = async (json: object) => isSuccess(await target.ask('PUT', check.path, { json }))
  await target.push(check, was)
  await target.shows(check, [a, b], [a, b])
  const totals = totalsOf(is)
  const changes = totalsOf(was).map(([name, cents], index): Change => [name, cents, totals[index]?.[1]])
  const read = () => target.read(check)
  await requireFollowed(target, read, changes, async () => {
    await requireFollowed(
      target,
      () => entriesOf(target, check, a),
      [
        ['quantity', a.quantity, next.quantity],
        ['note', a.note, next.note],
      ],
      async () => {
        await target.push(check, is)
        return true
      },
    )
    return true
  })
  // Whether a check may move to another table, and an item may come without a note, is not shown.
  const moved = otherTable(check)
  const tables: Change[] = [['table.number', at(is, 'table.number'), moved.table.number]]
  await requireFollowed(target, read, tables, () => put(target.body([next, b], moved)))
  const { note, ...bare } = next
  const shown = holds(await entriesOf(target, check, a), note)
  if (shown && (await put({ ...target.body([next, b], moved), items: [bare, b] }))) {
    const gone = await target.eventually(
      () => entriesOf(target, check, a),
      (entries) => !holds(entries, note),
    )
    must(gone !== undefined, 'A push left out the note of an item, and GET still shows it.')
  }
  // Nor is whether a check may have no items.
  if (await put(target.body([], moved))) await target.shows(check, [a, b], [])
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
    async check(target) {
      await replaced(target)
      await fieldsReplaced(target)
    },
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
      await target.push(check, target.body([a, b]))
      await target.shows(check, [a, b], [a, b])
      // Names and forms of fields are not shown, so only values that are shown as they were pushed can be followed.
      const before = await entriesOf(target, check, a)
      const followed = (['name', 'price_cents'] as const).filter((field) => holds(before, a[field]))
      if (followed.length === 0)
        throw new NotChecked('GET shows neither name nor price of an item as it was pushed.')
      await target.push(check, target.body([renamed, b]))
      const after = await target.eventually(
        () => entriesOf(target, check, a),
        (entries) => followed.every((field) => holds(entries, renamed[field])),
      )
      must(
        after !== undefined,
        `An item that was pushed with another ${followed.join(' and ')} did not change.`,
      )
      must(after.length === 1, `An item that was changed stands in the check ${after.length} times.`)
      // A service may refuse two items of one name; one that accepts them has two items.
      const twin = { ...renamed, external_id: b.external_id }
      const { status } = await target.ask('PUT', check.path, { json: target.body([renamed, twin]) })
      if (isSuccess({ status })) await target.shows(check, [a, b], [a, b])
    },
  },
  {
    group: 'checks',
    id: 'own_items',
    title: 'items of another check with the same external_id are other items',
    basis: 'specification',
    section: "section 4, rule 3: a check's items are diffed by external_id",
    control: replaced,
    async check(target) {
      const [check, item] = await pushed(target)
      const [fields, before] = [[item.name, item.price_cents], await entriesOf(target, check, item)]
      const other = target.freshCheck()
      const twin = { ...item, name: 'Dish twin', price_cents: 1234 }
      await pushIfAllowed(
        target,
        other,
        target.body([twin]),
        'an external_id that an item of another check has',
      )
      await target.shows(other, [item], [item])
      const kept = fields.filter((value) => holds(before, value))
      const after = await entriesOf(target, check, item)
      const isKept = kept.every((value) => holds(after, value))
      must(isKept, 'A push changed the item of another check that has the same external_id.')
      await target.push(other, target.body([other.item('b')]))
      await target.shows(other, [item], [])
      await target.shows(check, [item], [item])
    },
  },
  {
    group: 'checks',
    id: 'exact_ids',
    title: 'identifiers that differ in case are different',
    basis: 'specification',
    section: "section 4: external_check_id and external_id are the caller's own identifiers",
    control: replaced,
    async check(target) {
      const [check, item] = await pushed(target)
      const upper = { ...check.item('A'), name: 'Dish z', price_cents: 470 }
      const { status } = await target.ask('PUT', check.path, { json: target.body([item, upper]) })
      if (isSuccess({ status })) await target.shows(check, [item, upper], [item, upper])
      const [one, itemOfOne] = await pushed(target)
      const id = TRIAL_PREFIX + swapCase(one.id.slice(TRIAL_PREFIX.length))
      if (id === one.id) throw new NotChecked('The id of this run has no letters whose case could differ.')
      const other = { ...target.freshCheck(), id, path: one.path.replace(one.id, id) }
      const itemOfOther = other.item('b')
      await pushIfAllowed(target, other, target.body([itemOfOther]), 'two checks whose ids differ in case')
      const both = [itemOfOne, itemOfOther]
      await target.shows(other, both, [itemOfOther])
      await target.shows(one, both, [itemOfOne])
    },
  },
  {
    group: 'checks',
    id: 'own_table',
    title: 'two checks at one table stay two checks',
    basis: 'specification',
    section: 'section 4: external_check_id identifies the check',
    control: replaced,
    async check(target) {
      const check = target.freshCheck()
      const first = target.body([check.item('a')])
      await target.push(check, first)
      const other = target.freshCheck()
      const [a, b] = [check.item('a'), other.item('b')]
      const second = target.body([b], { table: at(first, 'table') })
      await pushIfAllowed(target, other, second, 'a second open check at a table')
      await target.shows(other, [a, b], [b])
      await target.shows(check, [a, b], [a])
    },
  },
  {
    group: 'checks',
    id: 'in_order',
    title: 'pushes that arrive in their order end with the newest',
    basis: 'specification',
    section: 'section 4: the body is the complete current state, sent on every change',
    control: replaced,
    check: async (target) => void (await inOrder(target)),
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
async function converge(target: Target, arrivals: readonly (readonly number[])[]): Promise<void> {
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
