import { setTimeout as sleep } from 'node:timers/promises'
import { envelopeOf, eventIdOf, eventTypeOf, type Arrival, type Hook } from './receiver.ts'
import { claimed, requireConflict } from './conflicts.ts'
import { pinged, reachable } from './endpoints.ts'
import { Broken, ifPossible, must, NotChecked, unlessNotChecked } from './outcome.ts'
import { pushIfAllowed, pushText } from './pushes.ts'
import { count } from '../../model/text/count.ts'
import { at, checkCandidates, differences } from './shape.ts'
import type { Registered, Target } from './target.ts'
import type { Item, TrialCheck } from './trial-checks.ts'

/** The deliveries that mention an item, and so the check that it belongs to. */
export const about = (arrivals: readonly Arrival[], { external_id }: Item) =>
  arrivals.filter(({ body }) => body.includes(external_id))

/** An event that nothing in this run causes. */
export const NEVER = 'payment.refunded'

interface Subscribed {
  /** For check.created and check.updated. */
  all: Registered
  /** For an event that never happens, and for check.updated alone, where the service allows further endpoints. */
  never: Registered | NotChecked
  updates: Registered | NotChecked
}

/** Registers the endpoints whose deliveries are looked at; done once. @throws Broken | NotChecked without the first. */
export function subscribed(target: Target): Promise<Subscribed> {
  return target.once('subscribed', async () => {
    const all = await reachable(target)
    const never = await unlessNotChecked(target.register(NEVER))
    const updates = await unlessNotChecked(target.register('check.updated'))
    return { all, never, updates }
  })
}

/**
 * Registers the first endpoint again when a later one replaced it, as in a service that keeps one endpoint per host.
 * Resolves with true when it was replaced: its ping was accepted before, and is refused now.
 */
async function restored(target: Target): Promise<boolean> {
  const endpoints = await subscribed(target)
  const [before, now] = [await ifPossible(pinged(target)), await ifPossible(target.ping(endpoints.all))]
  if (before === undefined || now !== undefined) return false
  const gone = new NotChecked('The service allows one endpoint per host, so there is no second endpoint.')
  endpoints.all = await target.register('check.created', 'check.updated')
  endpoints.never = gone
  endpoints.updates = gone
  return true
}

/** Waits until a delivery shows an item of a check. @throws Broken | NotChecked when none does. */
export async function shown(
  target: Target,
  hook: Hook,
  check: TrialCheck,
  item: Item,
  what: string,
): Promise<Arrival> {
  const arrival = await hook.until((arrivals) => about(arrivals, item)[0])
  if (arrival === undefined) throw notShown(target, hook, check, what)
  return arrival
}

/** Makes the error for a delivery that shows an item of a check. Another about the check may have arrived. */
function notShown(target: Target, hook: Hook, { id }: TrialCheck, what: string): Broken | NotChecked {
  if (hook.arrivals.some(({ body }) => body.includes(id)))
    return new Broken(`${what} arrived without the items of the check. Its data must be the full state.`)
  const nameless = hook.arrivals.find(
    (arrival) => String(eventTypeOf(arrival)).startsWith('check.') && !target.mentions(arrival),
  )
  if (nameless === undefined) return target.missing(what)
  const type = String(eventTypeOf(nameless))
  return new Broken(
    `${what} is missing, but a ${type} arrived whose data names neither the check nor its items. Its data must be the full state.`,
  )
}

/** Longest delay between the first delivery and one of another type, in milliseconds. */
const SAME_CHANGE_MS = 2_000

/**
 * Pushes a check, changes it and has a guest claim an item, until an event about it arrives: which operation causes an event
 * is not shown. One that `isLate` arrived after a change, and may show the check before it. Done once.
 * @throws Broken | NotChecked when none arrives.
 */
export function firstEvent(target: Target) {
  return target.once('first event', async () => {
    const pushed = async () => {
      const { all } = await subscribed(target)
      const check = target.freshCheck()
      const { item: a } = await pushText(target, check)
      const arrived = () => all.hook.until((arrivals) => about(arrivals, a)[0])
      return { all, check, a, arrived, first: await arrived() }
    }
    let seen = await pushed()
    if (seen.first === undefined && (await restored(target))) seen = await pushed()
    const { all, check, a, arrived } = seen
    const b = check.item('b')
    let { first } = seen
    let isLate = false
    for (const act of [() => target.push(check, target.body(check, [a, b])), () => target.claim(check, a)]) {
      if (first !== undefined) break
      const missing = notShown(target, all.hook, check, 'An event about a check')
      if (missing instanceof NotChecked) throw missing
      await unlessNotChecked(act())
      isLate = true
      first = await arrived()
    }
    if (first === undefined) throw notShown(target, all.hook, check, 'An event about a check')
    const isCreated = (arrival: Arrival) => eventTypeOf(arrival) === 'check.created'
    const typed = await all.hook.until((arrivals) => about(arrivals, a).find(isCreated), SAME_CHANGE_MS)
    return { ...all, check, a, arrival: typed ?? first, isLate }
  })
}

/** An item of each check that was changed since the endpoints were registered, whether or not its events arrived. */
export function changedItems(target: Target): Promise<Item[]> {
  return target.once('changed items', () => Promise.resolve([]))
}

export function dataOf(arrival: Arrival): unknown {
  return at(envelopeOf(arrival), 'data')
}

/**
 * Reads the check of an event until it is the event's data, whatever either is wrapped in: GET may show a change later than
 * its event. Returns where they differ, and `undefined` when they are the same. @throws NotChecked when it cannot be read.
 */
export async function differsFromRead(
  target: Target,
  arrival: Arrival,
  check: TrialCheck,
  { external_id }: Item,
): Promise<string | undefined> {
  const inside = (value: unknown) => checkCandidates(value, check.id, external_id)
  const sent = inside(dataOf(arrival))
  const pathsIn = (read: unknown) =>
    inside(read)
      .flatMap((other) => sent.map((one) => differences(one, other)))
      .sort((one, other) => one.length - other.length)[0]
  let last: unknown
  const found = await target.eventually(
    async () => (last = await unlessNotChecked(target.read(check))),
    (read) => pathsIn(read)?.length === 0,
  )
  if (last instanceof NotChecked) throw last
  if (found !== undefined) return undefined
  const [first = 'the whole body', ...more] = pathsIn(last) ?? []
  return more.length === 0 ? first : `${first} and ${count(more.length, 'other place')}`
}

export const OUTDATED = 'A check.updated event contains the check before the change.'

/** The events of a new check that is changed twice, each state replayed some times and each event awaited. */
async function eventsOf(target: Target, replays: number) {
  const { all } = await subscribed(target)
  const check: TrialCheck = target.freshCheck()
  const { item: a, body: first } = await pushText(target, check)
  const [b, c] = [check.item('b'), check.item('c')]
  ;(await changedItems(target)).push(a)
  await shown(target, all.hook, check, a, 'The delivery for a new check')
  const replay = (body: object) => target.push(check, ...Array.from({ length: replays }, () => body))
  await replay(first)
  const change = async (item: Item, ...others: readonly Item[]) => {
    const body = target.body(check, [item, ...others])
    const known = new Set(all.hook.arrivals.map(eventIdOf))
    await target.push(check, body)
    const arrival = await all.hook.until((arrivals) => about(arrivals, item)[0])
    if (arrival === undefined) {
      const isUpdate = (one: Arrival) => eventTypeOf(one) === 'check.updated' && !known.has(eventIdOf(one))
      must(!about(all.hook.arrivals, a).some(isUpdate), OUTDATED)
      throw target.missing('The delivery for a changed check')
    }
    const differs = await unlessNotChecked(differsFromRead(target, arrival, check, item))
    await replay(body)
    return { arrival, differs }
  }
  const update = await change(b, a)
  await change(c, a, b)
  return { hook: all.hook, check, a, b, update }
}

/** Pushes another check: what was caused before has arrived when its event has, unless the service sends out of order. */
export async function marked(target: Target, hook: Hook): Promise<void> {
  const check = target.freshCheck()
  const item = check.item('m')
  await target.push(check, target.body(check, [item]))
  await shown(target, hook, check, item, 'The delivery for a new check')
}

/**
 * Closes a check, and returns the first check.closed about it. @throws NotChecked when the service refuses that, or none
 * arrives: which operation causes an event is not shown.
 */
export async function closedEvent(target: Target) {
  // Pushed first: for the table of a new check, another one may be closed.
  const check = target.freshCheck()
  const { item } = await pushText(target, check)
  const { hook, isUnreachable } = await target.register('check.closed')
  if (isUnreachable) throw new NotChecked('The service refuses the address of this receiver.')
  const closing = target.body(check, [item], { status: 'closed' })
  await pushIfAllowed(target, check, closing, 'the status closed')
  // Others may close checks meanwhile.
  const isOwn = (one: Arrival) => one.body.includes(check.id) || one.body.includes(item.external_id)
  const arrival = await hook.until((arrivals) =>
    arrivals.find((one) => eventTypeOf(one) === 'check.closed' && isOwn(one)),
  )
  if (arrival === undefined) throw new NotChecked('No check.closed arrived for a check that was closed.')
  return { arrival, check, item }
}

/** A check that was changed, and what arrived about it, with what arrived about one that was replayed, too. */
export function changed(target: Target) {
  return target.once('changed', async () => {
    const plain = await eventsOf(target, 0)
    const replayed = await eventsOf(target, 3)
    await marked(target, plain.hook)
    return { plain, replayed }
  })
}

/**
 * Returns the deliveries about a claimed check, and about one with a conflict.
 * @throws NotChecked when guests cannot claim here.
 */
export function conflictEvents(target: Target) {
  return target.once('conflict events', async () => {
    const { all } = await subscribed(target)
    const plain = await claimed(target)
    const refused = await claimed(target)
    const push = target.body(refused.check, [refused.bread])
    const { status } = await target.ask('PUT', refused.check.path, { json: push })
    requireConflict({ status })
    await marked(target, all.hook)
    return { hook: all.hook, plain: plain.soup, refused: refused.soup }
  })
}

/** Waits until an event that came late would have arrived as well: as long as a push may take to be shown. Done once. */
export function lateEventsArrived(target: Target): Promise<void> {
  return target.once('late events', async () => {
    await ifPossible(changed(target))
    await ifPossible(conflictEvents(target))
    await sleep(target.timeouts.settleMs)
  })
}

/** Every event about a check of this run so far, with the secrets of its endpoint. @throws Broken | NotChecked, as {@link firstEvent}. */
export async function events(
  target: Target,
): Promise<(Pick<Registered, 'secrets'> & { arrival: Arrival })[]> {
  await firstEvent(target)
  await ifPossible(changed(target))
  const { all, updates } = await subscribed(target)
  const endpoints = updates instanceof NotChecked ? [all] : [all, updates]
  return endpoints.flatMap(({ hook, secrets }) =>
    hook.arrivals.filter(target.mentions).map((arrival) => ({ arrival, secrets })),
  )
}

/** The ping of the first endpoint. @throws Broken | NotChecked when it does not arrive. */
export function arrivedPing(target: Target) {
  return target.once('ping', async () => {
    const { hook, before, secrets } = await pinged(target)
    const ping = await pingAt(target, hook, before)
    return { ping, secrets }
  })
}

/**
 * The first delivery at a hook after so many others that mentions no check, or is a ping by its type: a ping may show a check
 * as an example. @throws Broken | NotChecked
 */
export async function pingAt(target: Target, hook: Hook, before: number): Promise<Arrival> {
  const isPing = (arrival: Arrival) =>
    !target.mentions(arrival) || /ping|test/i.test(String(eventTypeOf(arrival)))
  const ping = await hook.until((arrivals) => arrivals.slice(before).find(isPing))
  if (ping === undefined) throw target.missing('The ping')
  return ping
}
