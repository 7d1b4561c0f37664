import { setTimeout as sleep } from 'node:timers/promises'
import { itemFields } from '../../model/check-diff.ts'
import { isSuccess, type ServiceResponse } from './ask.ts'
import { Broken, explained, must, NotChecked } from './outcome.ts'
import { otherTable } from './pushes.ts'
import { at, differences, holds, nested, timeless } from './shape.ts'
import type { Target } from './target.ts'
import type { Item, TrialCheck } from './trial-checks.ts'

/** Reads a check and returns the entries of an item. @throws NotChecked when it cannot be read. */
export async function entriesOf(target: Target, check: TrialCheck, item: Item): Promise<readonly unknown[]> {
  return target.entriesIn(await target.read(check), item)
}

/** Returns the totals of a body, by name. */
function totalsOf(body: object | undefined): [name: string, cents: unknown][] {
  return Object.entries(at(body, 'totals') ?? {})
}

/** A field of a check, or of an item of it, that a push changes. */
interface Change {
  name: string
  was: unknown
  is: unknown
  item?: Item
}

/** Returns these fields of an item as they are changed. */
export function changesOf(was: Item, is: Item, ...names: readonly (keyof Item)[]): Change[] {
  return names.map((name) => ({ name, was: was[name], is: is[name], item: was }))
}

/**
 * Has fields changed, and follows those that were shown as they were pushed, since names and forms are not shown. `push`
 * resolves with false where the service refuses the change.
 * @throws Broken unless the new values are shown.
 */
export async function requireFollowed(
  target: Target,
  check: TrialCheck,
  changes: readonly Change[],
  push: () => Promise<unknown>,
): Promise<void> {
  const shows = (seen: unknown, { item }: Change, value: unknown) =>
    holds(item === undefined ? seen : target.entriesIn(seen, item), value)
  const before = await target.read(check)
  const followed = changes.filter((one) => shows(before, one, one.was) && !shows(before, one, one.is))
  if ((await push()) === false) return
  let stale: readonly Change[] = followed
  await target.eventually(
    async () => {
      const seen = await target.read(check)
      return (stale = followed.filter((one) => !shows(seen, one, one.is)))
    },
    ({ length }) => length === 0,
  )
  const names = stale.map(({ name }) => name).join(' and ')
  must(stale.length === 0, `A push changed ${names}, but GET does not return the new value.`)
}

/** Changes fields of a check and of an item, one push after the other. @throws Broken where GET keeps an old value. */
export async function fieldsReplaced(target: Target): Promise<void> {
  const check = target.freshCheck()
  const [a, b] = [check.item('a', { quantity: 7 }), check.item('b')]
  const next = { ...a, quantity: 4, note: target.profile.item?.note === undefined ? 'no salt' : a.note }
  const [was, is] = [target.body(check, [a, b]), target.body(check, [next, b])]
  const put = async (json: object) => isSuccess(await target.ask('PUT', check.path, { json }))
  await target.push(check, was)
  await target.shows(check, [a, b], [a, b])
  const totals = Object.fromEntries(totalsOf(is))
  const changes = [
    ...changesOf(a, next, 'quantity', 'note'),
    ...totalsOf(was).map(([name, cents]): Change => ({ name, was: cents, is: totals[name] })),
  ]
  await requireFollowed(target, check, changes, () => target.push(check, is))
  // Whether a check may move to another table, and an item may come without a note, is not shown.
  const moved = otherTable(check)
  const table: Change = { name: 'table.number', was: at(is, 'table.number'), is: moved.table.number }
  await requireFollowed(target, check, [table], () => put(target.body(check, [next, b], moved)))
  const { note, ...bare } = next
  const shown = holds(await entriesOf(target, check, a), note)
  if (shown && (await put({ ...target.body(check, [next, b], moved), items: [bare, b] }))) {
    const gone = await target.eventually(
      () => entriesOf(target, check, a),
      (entries) => !holds(entries, note),
    )
    must(gone !== undefined, 'A push omitted the note of an item, but GET still returns it.')
  }
  // Whether a check may have no items is not shown, either.
  if (await put(target.body(check, [], moved))) await target.shows(check, [a, b], [])
}

/**
 * Pushes items and looks at what GET shows under the names of the specification, where it shows numbers there.
 * @throws Broken when none of those is the pushed one.
 */
export async function requireAmounts(target: Target): Promise<void> {
  const check = target.freshCheck()
  // Divided and multiplied by 100, the first price and the total lose a cent as floats of 64 bits, the second price and the
  // subtotal as floats of 32 bits.
  const [a, b] = [check.item('a', { price_cents: 1999 }), check.item('b', { price_cents: 1788, quantity: 3 })]
  const body = target.body(check, [a, b])
  await target.push(check, body)
  await target.shows(check, [a, b], [a, b])
  const seen = await target.read(check)
  requireShown(target.entriesIn(seen, a), { price_cents: a.price_cents, quantity: a.quantity })
  requireShown(target.entriesIn(seen, b), { quantity: b.quantity })
  // Whether the price is that of a unit or of the line is not shown.
  requireShown(target.entriesIn(seen, b), { price_cents: b.price_cents }, b.price_cents * b.quantity)
  requireTotals(seen, body)
  // Whether a quantity may be a fraction is not shown, but one that is accepted is part of the state. Scales show grams.
  let { quantity: before } = b
  for (const quantity of [1.5, 1.125]) {
    const part = { ...b, price_cents: 1232, quantity }
    const { status } = await target.ask('PUT', check.path, { json: target.body(check, [a, part]) })
    if (!isSuccess({ status })) continue
    await target.eventually(
      () => entriesOf(target, check, b),
      (entries) => !entries.some((one) => at(one, 'quantity') === before),
    )
    requireShown(await entriesOf(target, check, b), { quantity })
    before = quantity
  }
  // The same goes for prices that are unusual: those of a free dish and of a discount, and one beyond 32 bits, such as that of
  // a banquet in rupiah. A service may show such items in a list of their own.
  for (const [name, price_cents] of Object.entries({ free: 0, discount: -250, banquet: 3_000_000_000 })) {
    const other = target.freshCheck()
    const [usual, item] = [other.item('a'), other.item(name, { price_cents })]
    const json = target.body(other, [usual, item])
    if (!isSuccess(await target.ask('PUT', other.path, { json }))) continue
    await target.shows(other, [usual], [usual])
    const read = await target.eventually(
      () => target.read(other),
      (now) => JSON.stringify(now).includes(item.external_id),
    )
    must(read !== undefined, `A push has an item with the price ${price_cents}, but GET does not return it.`)
    requireShown(target.entriesIn(read, item), { price_cents })
    requireTotals(read, json)
  }
}

/** @throws Broken when GET returns other totals than those of a body, under the same names. */
function requireTotals(read: unknown, body: object): void {
  const totals = Object.fromEntries(totalsOf(body))
  const records = [...nested(read)].map(({ value }) => value)
  const areTotals = (one: unknown) => Object.keys(totals).every((name) => typeof at(one, name) === 'number')
  requireShown(records.filter(areTotals), totals)
}

/** @throws Broken when records have other numbers than the pushed ones, or `also`, under the same names. */
function requireShown(
  records: readonly unknown[],
  pushed: Readonly<Record<string, unknown>>,
  also?: number,
): void {
  for (const [name, value] of Object.entries(pushed)) {
    const shown = records.map((one) => at(one, name)).filter((one) => typeof one === 'number')
    // A service may have an entry for each unit of an item.
    const sum = shown.reduce((total, one) => total + one, 0)
    must(
      shown.length === 0 || shown.some((one) => one === value || one === also) || sum === value,
      `A push has ${name} ${String(value)}, but GET returns ${name} ${shown.join(' and ')}.`,
    )
  }
}

/**
 * Characters that HTML, JSON, SQL and encodings treat in their own ways. Short, since a service may limit the length. It may
 * refuse those beyond Latin-1.
 */
const TEXTS = ['Crêpe „8“ & \'"<\\ 🍣', 'Crêpe & \'"<\\ %']

/**
 * Pushes an item whose name and note have such characters, and looks at those that GET returns as they are pushed.
 * @throws Broken when GET returns other texts, NotChecked when it returns neither or the service refuses the texts.
 */
export async function requireTexts(target: Target): Promise<void> {
  const check = target.freshCheck()
  const a = check.item('a')
  await target.push(check, target.body(check, [a]))
  await target.shows(check, [a], [a])
  const before = await entriesOf(target, check, a)
  // A profile may fix the note of each item.
  const changeable =
    target.profile.item?.note === undefined ? (['name', 'note'] as const) : (['name'] as const)
  const followed = changeable.filter((field) => holds(before, a[field]))
  if (followed.length === 0)
    throw new NotChecked('GET returns neither the pushed name nor the pushed note of an item.')
  for (const text of TEXTS) {
    const texts = Object.fromEntries(followed.map((field) => [field, `${a[field]} ${text}`]))
    const json = target.body(check, [{ ...a, ...texts }])
    if (!isSuccess(await target.ask('PUT', check.path, { json }))) continue
    let other: [field: string, text: string][] = []
    let entries: readonly unknown[] = []
    await target.eventually(
      async () => {
        entries = await entriesOf(target, check, a)
        return (other = Object.entries(texts).filter(([, pushed]) => !holds(entries, pushed)))
      },
      ({ length }) => length === 0,
    )
    const [first] = other
    if (first === undefined) return
    const isEscaped = JSON.stringify(entries).includes('&amp;')
    const shown = entries.map((one) => at(one, first[0])).find((one) => typeof one === 'string')
    const instead = shown === undefined ? 'does not return it' : `returns ${JSON.stringify(shown)}`
    throw new Broken(
      `A push has the ${first[0]} ${JSON.stringify(first[1])}, but GET ${isEscaped ? 'returns it with HTML escapes' : instead}.`,
    )
  }
  throw new NotChecked('The service refuses names and notes with quotation marks and letters beyond ASCII.')
}

/** More than a second, in milliseconds, so that fields which count seconds have changed. */
const SECOND_MS = 1_100

/** A check as it is read, with the paths that differ between two reads although nothing happened. */
export interface ObservedCheck {
  check: unknown
  withTimes: boolean
  volatile: ReadonlySet<string>
}

/** Reads a check twice; with its times, more than a second apart. @throws NotChecked when it cannot be read. */
export async function observeCheck(
  target: Target,
  check: TrialCheck,
  { withTimes = false } = {},
): Promise<ObservedCheck> {
  const one = await seen(target, check, withTimes)
  if (withTimes) await sleep(SECOND_MS)
  const other = await seen(target, check, withTimes)
  return { check: other, withTimes, volatile: new Set(differences(one, other)) }
}

async function seen(target: Target, check: TrialCheck, withTimes: boolean): Promise<unknown> {
  const read = await target.read(check)
  return withTimes ? read : timeless(read)
}

/** Returns the paths that differ from an observed check, except those that change by themselves, such as seconds. */
export async function changedSince(
  target: Target,
  check: TrialCheck,
  before: ObservedCheck,
): Promise<readonly string[]> {
  const now = await seen(target, check, before.withTimes)
  const changed = differences(before.check, now).filter((path) => !before.volatile.has(path))
  if (changed.length === 0) return []
  await sleep(SECOND_MS)
  const volatile = new Set(differences(now, await seen(target, check, before.withTimes)))
  return changed.filter((path) => !volatile.has(path))
}

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

/** Parts of a newest state that GET returns as pushed. */
interface Followed {
  /** True when state 1 is at another table, which the service accepts. */
  isMoved: boolean
  /** Totals by name, and fields of the first item. */
  totals: readonly string[]
  fields: readonly (typeof itemFields)[number][]
  table: boolean
}

/**
 * Pushes three states in their order; resolves with what GET shows of the newest as it was pushed.
 * @throws NotChecked where pushes carry nothing that orders them.
 */
export function inOrder(target: Target): Promise<Followed> {
  return target.once('in order', async () => {
    // A service that takes any text for its ordering field may still mean times, or numbers.
    const ordered = (): ReturnType<typeof arrive> =>
      arrive(target, [1, 2, 3], false).catch((error: unknown) => {
        if (!(error instanceof Broken && target.isOrderGuessed() && target.orderOtherwise())) throw error
        return ordered()
      })
    const atOneTable = await ordered()
    // Whether a check may move to another table is not shown.
    const moved = await arrive(target, [1, 2, 3], true).catch((error: unknown) => {
      if (!(error instanceof Broken)) throw error
    })
    const { check, item, totals, table } = moved ?? atOneTable
    const seen = await target.read(check)
    const entries = target.entriesIn(seen, item)
    return {
      isMoved: moved !== undefined,
      totals: Object.keys(totals).filter((name) => holds(seen, totals[name])),
      fields: itemFields.filter((name) => holds(entries, item[name])),
      table: holds(seen, table),
    }
  })
}

/** @throws Broken unless each order of arrival ends with the newest state that arrived. */
export async function converge(target: Target, arrivals: readonly (readonly number[])[]): Promise<void> {
  const followed = await inOrder(target)
  for (const places of arrivals) {
    const { check, item, totals, table, arrived } = await arrive(target, places, followed.isMoved)
    let old: string[] = []
    await target.eventually(
      async () => {
        const seen = await target.read(check)
        const entries = target.entriesIn(seen, item)
        old = [
          ...followed.totals.filter((name) => !holds(seen, totals[name])),
          ...followed.fields
            .filter((name) => !holds(entries, item[name]))
            .map((name) => `${name} of an item`),
          ...(followed.table && !holds(seen, table) ? ['table.number'] : []),
        ]
        return old
      },
      ({ length }) => length === 0,
    )
    const names = old.join(', ')
    must(old.length === 0, `${arrived} GET does not return the newest ${names}.`)
  }
}

/**
 * Pushes states in an order, the first one at another table where `isMoved`. Resolves with the newest: its first item, totals
 * and table. @throws Broken when the items are not the newest.
 */
async function arrive(target: Target, places: readonly number[], isMoved: boolean) {
  const check = target.freshCheck()
  const [a, b, c] = ['a', 'b', 'c'].map((name) => check.item(name)) as [Item, Item, Item]
  // A profile may fix the note of each item.
  const noted = (note: string) => (target.profile.item?.note === undefined ? { note } : {})
  const states: [Item, ...Item[]][] = [
    [{ ...a, name: 'Dish before', quantity: 5, price_cents: a.price_cents + 40, ...noted('no pepper') }],
    [a, b],
    [{ ...b, name: 'Dish after', quantity: 3, price_cents: b.price_cents + 80, ...noted('no salt') }, c],
  ]
  const bodies = states.map((items, index) =>
    target.ordered(target.body(check, items, isMoved && index === 0 ? otherTable(check) : {}), index + 1),
  )
  for (const [index, place] of places.entries()) {
    const answer = await target.ask('PUT', check.path, { json: bodies[place - 1] })
    const isOlder = places.slice(0, index).some((before) => before >= place)
    requireTaken(answer, isOlder, places)
  }
  const last = Math.max(...places) - 1
  const newest = states[last] ?? [a]
  // A service may compare the values as texts.
  const { order_by = '' } = target.profile
  const field = typeof order_by === 'string' ? order_by : order_by.field
  const values = places.map((place) => JSON.stringify(at(bodies[place - 1], field)))
  const arrived = `States ${places.join(', ')} arrived, with ${field} ${values.join(', ')}.`
  await explained(target.shows(check, [a, b, c], newest), arrived)
  return {
    arrived,
    check,
    item: newest[0],
    totals: Object.fromEntries(totalsOf(bodies[last])),
    table: at(bodies[last], 'table.number'),
  }
}

/** The service may refuse a push that is older than one before it: what counts is the state. It must accept a newer one. */
function requireTaken({ status }: ServiceResponse, isOlder: boolean, places: readonly number[]): void {
  const isRefused = isOlder && status >= 400 && status < 500
  must(isSuccess({ status }) || isRefused, `A push of the states ${places.join(', ')} returned ${status}.`)
}
