import { setTimeout as sleep } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import { TRIAL_PREFIX } from '../../model/simulator/request-entry.ts'
import { isSuccess, NoAnswer, type ServiceResponse } from './ask.ts'
import { rulesOf, type ContractCase } from './case.ts'
import {
  changedSince,
  changesOf,
  entriesOf,
  fieldsReplaced,
  observeCheck,
  converge,
  inOrder,
  orders,
  requireAmounts,
  requireFollowed,
  requireTexts,
} from './fields.ts'
import { Broken, explained, must, NotChecked, unlessNotChecked } from './outcome.ts'
import { accepted, pushed, pushIfAllowed, replaced } from './pushes.ts'
import { fillBody } from './profile.ts'
import { at, holds, nested, swapCase, timeless } from './shape.ts'
import type { Target } from './target.ts'
import type { Item, TrialCheck } from './trial-checks.ts'

const rule = rulesOf('checks', replaced)

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
  rule(
    'full_state',
    'a push replaces the whole check',
    'section 4: the body is the complete current state, not a delta',
    async (target) => {
      await replaced(target)
      await fieldsReplaced(target)
    },
    accepted,
  ),
  rule(
    'amounts',
    'amounts are returned as they were pushed',
    'section 2: quantity, price_cents, totals; section 4: the body is the complete current state',
    requireAmounts,
  ),
  rule(
    'texts',
    'names and notes are returned as they were pushed',
    'section 2: name, note; section 4: the body is the complete current state',
    requireTexts,
  ),
  rule(
    'replay',
    'a replay of the same push changes nothing',
    'section 4, rule 1: replaying an identical call has no effect',
    (target) => replayed(target, { withTimes: false }),
  ),
  {
    group: 'checks',
    id: 'replay_times',
    title: 'a replay of the same push moves no time of the check',
    // A time may say when a push arrived last.
    basis: 'advice',
    section: 'section 4, rule 1: replaying an identical call has no effect',
    control: replaced,
    check: (target) => replayed(target, { withTimes: true }),
  },
  rule(
    'matched_by_id',
    'items are matched by external_id',
    'section 4, rule 3: items are diffed by external_id',
    async (target) => {
      const check = target.freshCheck()
      const [a, b] = [check.item('a'), check.item('b')]
      const renamed = { ...a, name: 'Dish z', price_cents: 950 }
      await target.push(check, target.body(check, [a, b]))
      await target.shows(check, [a, b], [a, b])
      // Names and forms of fields are not shown, so only values that are shown as they were pushed can be followed.
      const before = await entriesOf(target, check, a)
      const followed = (['name', 'price_cents'] as const).filter((field) => holds(before, a[field]))
      if (followed.length === 0)
        throw new NotChecked('GET returns neither the pushed name nor the pushed price of an item.')
      await target.push(check, target.body(check, [renamed, b]))
      const after = await target.eventually(
        () => entriesOf(target, check, a),
        (entries) => followed.every((field) => holds(entries, renamed[field])),
      )
      const latest = after ?? (await entriesOf(target, check, a))
      const old = followed.filter((field) => !holds(latest, renamed[field]))
      must(old.length === 0, `An item pushed with a new ${old.join(' and ')} kept the old one.`)
      // A service may show an item in several lists.
      must(
        latest.length === before.length,
        `An item was in ${before.length} places of the check, and is in ${latest.length} after a change of its fields.`,
      )
      // A service may refuse two items of one name; one that accepts them has two items.
      const twin = { ...renamed, external_id: b.external_id }
      const { status } = await target.ask('PUT', check.path, { json: target.body(check, [renamed, twin]) })
      if (isSuccess({ status })) await target.shows(check, [a, b], [a, b])
    },
  ),
  rule(
    'own_items',
    'items of different checks can share an external_id',
    "section 4, rule 3: a check's items are diffed by external_id",
    async (target) => {
      const [check, item] = await pushed(target)
      const [fields, before] = [[item.name, item.price_cents], await entriesOf(target, check, item)]
      const other = target.freshCheck()
      const twin = { ...item, name: 'Dish twin', price_cents: 1234 }
      await pushIfAllowed(
        target,
        other,
        target.body(other, [twin]),
        'an external_id of an item of another check',
      )
      await showsBeside(target, check, other, [item], [item])
      const kept = fields.filter((value) => holds(before, value))
      const after = await entriesOf(target, check, item)
      const isKept = kept.every((value) => holds(after, value))
      must(isKept, 'A push changed the item of another check with the same external_id.')
      await target.push(other, target.body(other, [other.item('b')]))
      await target.shows(other, [item], [])
      await target.shows(check, [item], [item])
    },
  ),
  rule(
    'exact_ids',
    'identifiers are case-sensitive',
    "section 4: external_check_id and external_id are the caller's own identifiers",
    async (target) => {
      const [check, item] = await pushed(target)
      const upper = { ...check.item('A'), name: 'Dish z', price_cents: 470 }
      const { status } = await target.ask('PUT', check.path, { json: target.body(check, [item, upper]) })
      if (isSuccess({ status })) await target.shows(check, [item, upper], [item, upper])
      const [one, itemOfOne] = await pushed(target)
      const id = TRIAL_PREFIX + swapCase(one.id.slice(TRIAL_PREFIX.length))
      if (id === one.id) throw new NotChecked('The ids of this run contain no letters.')
      const other = { ...target.freshCheck(), id, path: one.path.replace(one.id, id) }
      const itemOfOther = other.item('b')
      await pushIfAllowed(
        target,
        other,
        target.body(other, [itemOfOther]),
        'two checks whose ids differ only in case',
      )
      const both = [itemOfOne, itemOfOther]
      await showsBeside(target, one, other, both, [itemOfOther])
      await target.shows(one, both, [itemOfOne])
    },
  ),
  rule(
    'encoded_ids',
    'identifiers with a space, a plus sign and a percent sign are kept',
    "section 4: external_check_id is the caller's own identifier of the check",
    encodedIds,
  ),
  rule(
    'own_table',
    'two checks at one table stay separate',
    'section 4: external_check_id identifies the check',
    ownTable,
  ),
  rule(
    'same_content',
    'two checks with the same content stay separate',
    'section 4: external_check_id identifies the check',
    sameContent,
    async (target) => {
      await replaced(target)
      await ownTable(target)
      await unlessNotChecked(inOrder(target))
    },
  ),
  rule(
    'closing',
    'a push that closes a check is applied whole',
    'section 4: the body is the complete current state, sent on every change',
    closes,
  ),
  rule(
    'many_items',
    'a check of 150 items has all of them',
    "section 2: items are the complete list of the check's items",
    manyItems,
  ),
  rule(
    'replay_at_once',
    'replays that arrive at the same time change nothing',
    'section 4, rule 1: replaying an identical call has no effect',
    replayedAtOnce,
  ),
  rule(
    'in_order',
    'pushes in order end with the newest state',
    'section 4: the body is the complete current state, sent on every change',
    async (target) => void (await inOrder(target)),
  ),
  rule(
    'restored',
    'a newer push with an earlier content counts',
    'section 4: the body is the complete current state, sent on every change',
    restored,
    inOrder,
  ),
  rule(
    'order',
    'an older push that arrives late does not replace a newer one',
    'section 4, rule 2: out-of-order updates converge on the same state',
    late,
    inOrder,
  ),
  rule(
    'convergence',
    'three pushes in any order, with repeats, end in one state',
    'section 1: updates that arrive out of order converge on the same final state',
    (target) => converge(target, orders),
    inOrder,
  ),
  rule(
    'closed',
    'an older push that arrives late does not reopen a closed check',
    'section 4, rule 2: out-of-order updates converge on the same state',
    staysClosed,
    inOrder,
  ),
  rule(
    'open_again',
    'an older push that arrives late does not close a check that is open again',
    'section 4, rule 2: out-of-order updates converge on the same state',
    staysOpen,
    late,
  ),
  rule(
    'at_once',
    'pushes that arrive at the same time end in the newest state',
    'section 4, rule 2: out-of-order updates converge on the same state',
    newestAtOnce,
    late,
  ),
  {
    group: 'checks',
    id: 'arrival_order',
    title: 'an identical push that arrives again after a newer one',
    section: 'section 2: no field that orders pushes is defined',
    async observe(target) {
      const check = target.freshCheck()
      const [a, b] = [check.item('a'), check.item('b')]
      const first = target.body(check, [a])
      await target.push(check, first, target.body(check, [a, b]))
      const { status } = await target.ask('PUT', check.path, { json: first })
      return `returned ${status}`
    },
  },
  {
    group: 'checks',
    id: 'success_status',
    title: 'status code of a push',
    section: 'section 4: success status code and body are not defined',
    async observe({ ask, freshCheck, body }) {
      const check = freshCheck()
      const created = await ask('PUT', check.path, { json: body(check, [check.item('a')]) })
      const updated = await ask('PUT', check.path, { json: body(check, [check.item('b')]) })
      return `${created.status} for a new check, ${updated.status} for an update`
    },
  },
  observed('odd_totals', 'totals that do not add up', {
    totals: { subtotal_cents: 1, tax_cents: 1, total_cents: 9 },
  }),
  observed('unknown_field', 'an unknown field', { covers: 2 }),
  observed('unknown_status', 'an unknown status', { status: 'paused' }),
  observed('no_items', 'a check without items', { items: [] }),
]

/** Runs late: a service may end at such a push, and then the cases after it cannot be judged. */
export const refusedWhole: ContractCase = rule(
  'refused_whole',
  'a push that is refused because of one item changes nothing',
  'section 4: the body is the complete current state of the check',
  keepsState,
)

/** What is wrong with the last item of a push, and the item. */
const WRONG_ITEMS: readonly (readonly [what: string, wrong: (item: Item) => unknown])[] = [
  ['whose last item has a text as its price', (item) => ({ ...item, price_cents: 'many' })],
  ['whose last item has no external_id', ({ external_id: _left, ...item }) => item],
  ['whose last two items have the same external_id', (item) => item],
  ['whose last item is null', () => null],
]

/**
 * Pushes changes of a check with an item that the service may refuse. @throws Broken when a refused push changes items or
 * totals, NotChecked when the service accepts all of them.
 */
async function keepsState(target: Target): Promise<void> {
  let refusals = 0
  for (const [what, wrong] of WRONG_ITEMS) {
    const check = target.freshCheck()
    const [a, b, c] = ['a', 'b', 'c'].map((name) => check.item(name)) as [Item, Item, Item]
    const body = target.body(check, [a, b])
    await target.push(check, body)
    await target.shows(check, [a, b, c], [a, b])
    const look = async () => timeless([await entriesOf(target, check, a), await entriesOf(target, check, b)])
    const before = await look()
    const shownTotal = holds(await target.read(check), at(body, 'totals.total_cents'))
    const changed = [{ ...a, name: 'Dish x', price_cents: a.price_cents + 30, quantity: 2 }, c]
    const json = { ...target.body(check, changed), items: [...changed, wrong(c)] }
    const { status } = await target.ask('PUT', check.path, { json }).catch((error: unknown) => {
      if (error instanceof NoAnswer) throw new NotChecked(`A push ${what} got no response: ${error.reason}.`)
      throw error
    })
    if (isSuccess({ status })) continue
    refusals += 1
    const refused = `A push ${what} returned ${status}.`
    await explained(target.shows(check, [a, b, c], [a, b]), `${refused} After that:`)
    must(
      isDeepStrictEqual(await look(), before),
      `${refused} After that, GET returns other fields of an item.`,
    )
    const isKept = !shownTotal || holds(await target.read(check), at(body, 'totals.total_cents'))
    must(isKept, `${refused} After that, GET returns other totals.`)
  }
  if (refusals === 0) throw new NotChecked('The service accepts pushes with wrong items.')
}

/** Ends of ids, and how they are written in paths. A service that decodes a path twice, or as a form, takes two for one. */
const ENCODED = [
  [' x', '%20x'],
  ['+x', '+x'],
  ['%20x', '%2520x'],
] as const

/** @throws Broken when an id in an encoded path is taken for another one, NotChecked when the service refuses such ids. */
async function encodedIds(target: Target): Promise<void> {
  const [plain] = await pushed(target)
  const isShown = holds(await target.read(plain), plain.id)
  const pushes: { check: TrialCheck; item: Item; end: string }[] = []
  for (const [index, [end, path]] of ENCODED.entries()) {
    const check = { ...target.freshCheck(), id: plain.id + end, path: plain.path + path }
    const item = check.item('abc'.charAt(index))
    const { status } = await target.ask('PUT', check.path, { json: target.body(check, [item]) })
    if (isSuccess({ status })) pushes.push({ check, item, end: JSON.stringify(end) })
  }
  if (pushes.length === 0)
    throw new NotChecked('The service refuses ids with a space, a plus sign or a percent sign.')
  const ends = pushes.map(({ end }) => end).join(', ')
  const items = pushes.map(({ item }) => item)
  for (const { check, item, end } of pushes) {
    const seen = `Checks whose ids end with ${ends} were pushed. At ${end}:`
    await explained(showsBeside(target, plain, check, items, [item]), seen)
    const isKept = !isShown || holds(await target.read(check), check.id)
    must(isKept, `${seen} GET ${target.readPath(check)} does not return the id ${JSON.stringify(check.id)}.`)
  }
}

/** Pushes two checks at one table; done once. @throws Broken unless each has its own items. */
function ownTable(target: Target): Promise<void> {
  return target.once('own table', async () => {
    const check = target.freshCheck()
    const first = target.body(check, [check.item('a')])
    await target.push(check, first)
    const other = target.freshCheck()
    const [a, b] = [check.item('a'), other.item('b')]
    const second = target.body(other, [b], { table: at(first, 'table') })
    await pushIfAllowed(target, other, second, 'a second open check at a table')
    await showsBeside(target, check, other, [a, b], [b])
    await target.shows(check, [a, b], [a])
  })
}

/** Pushes a state after a newer one; done once. @throws Broken when it replaces that. */
function late(target: Target): Promise<void> {
  return target.once('late push', () => converge(target, [[2, 1]]))
}

/** @throws Broken when two replays of a push change what GET returns; its times count `withTimes` alone. */
async function replayed(target: Target, options: { withTimes: boolean }): Promise<void> {
  const check = target.freshCheck()
  const items = [check.item('a'), check.item('b')]
  const body = target.body(check, items)
  await target.push(check, body)
  await target.shows(check, items, items)
  const before = await observeCheck(target, check, options)
  // After each: a second replay may undo what the first has done.
  for (const count of ['one replay', 'two replays']) {
    await target.push(check, body)
    await explained(target.shows(check, items, items), `After ${count}:`)
    const [changed] = await changedSince(target, check, before)
    must(changed === undefined, `After ${count}, GET returns another value at ${changed}.`)
  }
}

/**
 * As `shows`, for a check that was pushed beside a readable one. @throws Broken also when GET does not find it, NotChecked when it
 * finds neither.
 */
async function showsBeside(
  target: Target,
  readable: TrialCheck,
  check: TrialCheck,
  items: readonly Item[],
  expected: readonly Item[],
): Promise<void> {
  const seen = await unlessNotChecked(target.shows(check, items, expected))
  if (!(seen instanceof NotChecked)) return
  await target.read(readable)
  const read = await unlessNotChecked(target.read(check))
  must(
    !(read instanceof NotChecked),
    `A push to ${check.path} was accepted, but GET ${target.readPath(check)} does not return that check. GET ${target.readPath(readable)} returns the other.`,
  )
  throw seen
}

function observed(id: string, title: string, changes: object): ContractCase {
  return {
    group: 'checks',
    id,
    title,
    section: 'section 2: bounds and allowed values of check fields are not defined',
    async observe({ ask, freshCheck, body }) {
      const check = freshCheck()
      return `returned ${(await ask('PUT', check.path, { json: body(check, [check.item('a')], changes) })).status}`
    },
  }
}

/** Returns true when GET shows the status closed, in any case of letters. */
async function isClosed(target: Target, check: TrialCheck): Promise<boolean> {
  const values = [...nested(await target.read(check))].map(({ value }) => value)
  return values.some((value) => typeof value === 'string' && value.toLowerCase() === 'closed')
}

/** Pushes a new check open, and waits until GET shows it. Returns a function that pushes it with a status, at a place in the order. */
async function openCheck(target: Target) {
  const check = target.freshCheck()
  const item = check.item('a')
  const put = (status: string, place: number) =>
    target.ask('PUT', check.path, {
      json: target.ordered(target.body(check, [item], { status }), place),
    })
  await put('open', 1)
  await target.shows(check, [item], [item])
  return { check, put }
}

/** Pushes a new check open, and then closed. @throws NotChecked where the service refuses that, or GET does not show it. */
async function closedCheck(target: Target, place: number) {
  const { check, put } = await openCheck(target)
  const before = await isClosed(target, check)
  const { status } = await put('closed', place)
  if (!isSuccess({ status })) throw new NotChecked(`The service refuses the status closed (${status}).`)
  const after = await target.eventually(
    () => isClosed(target, check),
    (closed) => closed,
  )
  if (before || after === undefined) throw new NotChecked('GET does not return the status closed.')
  return { check, put }
}

/** Waits until pushes so far have had their effect: until GET shows a later one. */
async function latePushesApplied(target: Target): Promise<void> {
  await sleep(target.timeouts.quietMs)
  await pushed(target)
}

/** @throws Broken when a late push reopens a closed check, NotChecked where GET shows no check as closed. */
async function staysClosed(target: Target): Promise<void> {
  const { check, put } = await closedCheck(target, 3)
  await put('open', 2)
  await latePushesApplied(target)
  const isStillClosed = await isClosed(target, check)
  must(isStillClosed, 'After a late push with the status open, GET no longer returns the status closed.')
}

/**
 * Opens, closes and opens a check; then sends another check the close last. @throws Broken when that closes it, NotChecked
 * where a closed check stays closed, or GET shows no check as closed.
 */
async function staysOpen(target: Target): Promise<void> {
  const { check, put } = await closedCheck(target, 2)
  await put('open', 3)
  const open = await target.eventually(
    () => isClosed(target, check),
    (closed) => !closed,
  )
  if (open === undefined) throw new NotChecked('The service does not open a closed check again.')
  const other = await openCheck(target)
  await other.put('open', 3)
  await other.put('closed', 2)
  await latePushesApplied(target)
  const isClosedLate = await isClosed(target, other.check)
  must(!isClosedLate, 'After a late push with the status closed, GET returns the status closed.')
}

/** @throws Broken when a push to one check is taken for one to another, since both have the same body. */
async function sameContent(target: Target): Promise<void> {
  const check = target.freshCheck()
  const [a, b] = [check.item('a'), check.item('b')]
  const body = target.body(check, [a])
  await target.push(check, body)
  await target.shows(check, [a, b], [a])
  const other = target.freshCheck()
  // A profile may put the id of the check into the body.
  const own = fillBody(target.profile.push, { external_check_id: other.id }) as object | undefined
  await pushIfAllowed(target, other, { ...body, ...own }, 'the content of another check')
  await showsBeside(target, check, other, [a, b], [a])
  const changed = { ...target.body(other, [a, b], { table: at(body, 'table') }), ...own }
  await pushIfAllowed(target, other, changed, 'a change of a check with the content of another check')
  await target.shows(other, [a, b], [a, b])
  await target.shows(check, [a, b], [a])
}

/** Changes items in the push that closes a check. @throws Broken when they stay as they were. */
async function closes(target: Target): Promise<void> {
  const check = target.freshCheck()
  const all = ['a', 'b', 'c'].map((name) => check.item(name)) as [Item, Item, Item]
  const [a, b, c] = all
  await target.push(check, target.body(check, [a, b]))
  await target.shows(check, all, [a, b])
  await pushIfAllowed(target, check, target.body(check, [b, c], { status: 'closed' }), 'the status closed')
  const broken = await target.shows(check, all, [b, c]).catch((error: unknown) => {
    if (error instanceof Broken) return error
    throw error
  })
  if (broken === undefined) return
  // Whether GET returns a closed check, and its items, is not shown.
  const seen = await unlessNotChecked(target.read(check))
  if (seen instanceof NotChecked) throw new NotChecked('GET does not return a closed check.')
  if (all.every((item) => target.entriesIn(seen, item).length === 0))
    throw new NotChecked('GET returns no items of a closed check.')
  throw new Broken(`A push changed items and closed the check. ${broken.message}`)
}

/** More items than a page of a list or a batch of a database usually has. */
const MANY = 150

/** Fields of a response that has a part of a list only. */
const PAGED = /next|cursor|more|page|^(offset|limit)$/i

/** @throws Broken when GET returns a part of many items, NotChecked when the service refuses them or returns pages. */
async function manyItems(target: Target): Promise<void> {
  const check = target.freshCheck()
  const items = Array.from({ length: MANY }, (_, index) => ({
    ...check.item(`i${index}`),
    name: `Dish ${index}`,
  }))
  await pushIfAllowed(target, check, target.body(check, items), `a check of ${MANY} items`)
  let missing: readonly Item[] = items
  let seen: unknown
  await target.eventually(
    async () => {
      seen = await target.read(check)
      return (missing = items.filter((item) => target.entriesIn(seen, item).length === 0))
    },
    ({ length }) => length === 0,
  )
  if (missing.length === 0) return
  const isPaged = [...nested(seen)].some(({ name, value }) => PAGED.test(name) && Boolean(value))
  if (isPaged) throw new NotChecked('GET returns the items of a check in pages.')
  throw new Broken(`A push has ${MANY} items, but GET returns ${MANY - missing.length} of them.`)
}

/** Number of times that pushes are sent at the same time: whether they overlap in the service is chance. */
const ROUNDS = 5

/**
 * A service may refuse a push during another one to the same check, with a 4xx status or 503. @throws Broken when it fails
 * instead, such as at a unique index or a lock of its database.
 */
function requireNoFailure(answers: readonly ServiceResponse[], what: string): void {
  const failed = answers.find(({ status }) => status >= 500 && status !== 503)
  must(
    failed === undefined,
    `${what} arrived at the same time. One push returned ${failed?.status}. Its log may name a unique index or a locked database.`,
  )
}

/** @throws Broken when replays of a new push that arrive with it change the items, or fail. */
async function replayedAtOnce(target: Target): Promise<void> {
  const itemsOf = (check: TrialCheck): [Item, Item] => [check.item('a'), check.item('b')]
  const usual = target.freshCheck()
  const [item, beside] = itemsOf(usual)
  await target.push(usual, target.body(usual, [item, beside]))
  await target.shows(usual, [item, beside], [item, beside])
  const { length } = await entriesOf(target, usual, item)
  for (let round = 0; round < ROUNDS; round += 1) {
    const check = target.freshCheck()
    const items = itemsOf(check)
    const body = target.body(check, items)
    const answers = Array.from({ length: 4 }, () => target.ask('PUT', check.path, { json: body }))
    requireNoFailure(await Promise.all(answers), 'Four pushes of the same body')
    await target.push(check, body)
    await target.shows(check, items, items)
    const seen = await entriesOf(target, check, items[0])
    must(
      seen.length === length,
      `After replays at the same time, an item is in ${seen.length} places of the check; expected ${length}.`,
    )
  }
}

/** @throws Broken when pushes that arrive together do not end with the newest one, or fail. */
async function newestAtOnce(target: Target): Promise<void> {
  const rounds: { check: TrialCheck; newest: Item; items: Item[] }[] = []
  for (let round = 0; round < ROUNDS; round += 1) {
    const check = target.freshCheck()
    const newest = check.item('d')
    const older = ['c', 'b', 'a'].map((name) => check.item(name))
    const items = [newest, ...older]
    const bodyAt = (item: Item, index: number) =>
      target.ordered(target.body(check, [item]), items.length - index)
    const answers = await Promise.all(
      items.map((item, index) => target.ask('PUT', check.path, { json: bodyAt(item, index) })),
    )
    requireNoFailure(answers, 'Four states of one check')
    const [first] = answers
    if (first !== undefined && !isSuccess(first)) await target.push(check, bodyAt(newest, 0))
    rounds.push({ check, newest, items })
  }
  await latePushesApplied(target)
  for (const { check, newest, items } of rounds)
    await explained(target.shows(check, items, [newest]), 'States 4, 3, 2, 1 arrived at the same time.')
}

/** Removes an item and pushes it again, as it was and changed. @throws Broken unless each push is the state. */
async function restored(target: Target): Promise<void> {
  const check = target.freshCheck()
  const [a, b] = [check.item('a'), check.item('b')]
  let place = 0
  const put = async (...items: readonly Item[]) => {
    await target.push(check, target.ordered(target.body(check, items), ++place))
    await target.shows(check, [a, b], items)
  }
  await put(a, b)
  await put(b)
  await put(a, b)
  const changed = { ...a, name: 'Dish again', price_cents: a.price_cents + 70 }
  await requireFollowed(target, check, changesOf(a, changed, 'name', 'price_cents'), async () => {
    await put(b)
    await put(changed, b)
  })
}
