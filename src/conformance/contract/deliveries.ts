import { isDeepStrictEqual } from 'node:util'
import { eventTypes } from '../../model/event.ts'
import { signatureHeader } from '../../model/service-name.ts'
import { bodyOf, eventCount, idOf, isGenuine, signatureOf, typeOf } from './arrivals.ts'
import { rulesOf, type ContractCase, type Rule } from './case.ts'
import { must, NotChecked, unlessNotChecked } from './outcome.ts'
import { accepted } from './checks.ts'
import { pinged, reachable } from './endpoints.ts'
import type { Arrival, Hook } from './receiver.ts'
import { at, isObject, unwrapped } from './shape.ts'
import type { Item, Registered, Target, TrialCheck } from './target.ts'

/** The deliveries that mention an item, and so the check that it belongs to. */
const about = (arrivals: readonly Arrival[], { external_id }: Item) =>
  arrivals.filter(({ body }) => body.includes(external_id))

/** An event that nothing in this run causes. */
const NEVER = 'payment.refunded'

/** An endpoint for checks, and one for an event that never happens, where the service allows a second one. */
function subscribed(target: Target): Promise<{ all: Registered; other: Registered | NotChecked }> {
  return target.once('subscribed', async () => {
    const all = await reachable(target)
    const other = await unlessNotChecked(target.register(NEVER))
    return { all, other }
  })
}

/** Waits until a delivery shows an item. @throws Broken | NotChecked when none does. */
async function shown(target: Target, hook: Hook, item: Item, what: string): Promise<Arrival> {
  const arrival = await hook.until((arrivals) => about(arrivals, item)[0])
  if (arrival === undefined) throw target.missing(what)
  return arrival
}

/** How long a delivery of another type may follow the first, in milliseconds. */
const SAME_CHANGE_MS = 2_000

/**
 * Pushes a check, changes it and has a guest claim an item, until an event about it arrives: which operation causes an event
 * is not shown. Done once. @throws Broken | NotChecked when none arrives.
 */
export function created(target: Target) {
  return target.once('created', async () => {
    const { all } = await subscribed(target)
    const check = target.freshCheck()
    const [a, b] = [check.item('a'), check.item('b')]
    const arrived = () => all.hook.until((arrivals) => about(arrivals, a)[0])
    await target.push(check, target.body([a]))
    let first = await arrived()
    for (const act of [() => target.push(check, target.body([a, b])), () => target.claim(check, a)]) {
      if (first !== undefined) break
      const missing = target.missing('An event about a check')
      if (missing instanceof NotChecked) throw missing
      await unlessNotChecked(act())
      first = await arrived()
    }
    if (first === undefined) throw target.missing('An event about a check')
    const isCreated = (arrival: Arrival) => typeOf(arrival) === 'check.created'
    const typed = await all.hook.until((arrivals) => about(arrivals, a).find(isCreated), SAME_CHANGE_MS)
    return { ...all, check, a, arrival: typed ?? first }
  })
}

/** The events of a new check that is replayed some times and then changed, each step awaited. */
async function eventsOf(target: Target, replays: number) {
  const { all } = await subscribed(target)
  const check: TrialCheck = target.freshCheck()
  const [a, b] = [check.item('a'), check.item('b')]
  const body = target.body([a])
  await target.push(check, body)
  await shown(target, all.hook, a, 'The delivery for a new check')
  await target.push(check, ...Array.from({ length: replays }, () => body))
  await target.push(check, target.body([a, b]))
  const update = await shown(target, all.hook, b, 'The delivery for a changed check')
  return { hook: all.hook, a, b, update }
}

/** A check that was changed once, and what arrived about it, with what arrived about one that was replayed, too. */
function changed(target: Target) {
  return target.once('changed', async () => {
    const plain = await eventsOf(target, 0)
    const replayed = await eventsOf(target, 3)
    // What was caused before this marker has arrived when the marker has, unless the service sends out of order.
    const marker = target.freshCheck()
    const item = marker.item('m')
    await target.push(marker, target.body([item]))
    await shown(target, plain.hook, item, 'The delivery for a new check')
    return { plain, replayed }
  })
}

const one = rulesOf('deliveries', created)

/** Which operation causes which event is not shown, so a case about that is advice. */
const advice = (...given: Parameters<typeof one>): Rule => ({ ...one(...given), basis: 'advice' })

/** Specification, sections 2, 5 and 6: what is delivered, to whom, and how it is signed. */
export const deliveries: readonly ContractCase[] = [
  one(
    'event',
    'an event about a check is delivered',
    'section 1: endpoints receive notifications about checks',
    async (target) => {
      await created(target)
    },
    async (target) => {
      await accepted(target)
      await reachable(target)
    },
  ),
  one(
    'ping',
    'a ping arrives, signed',
    'section 4: sends a signed ping to that endpoint',
    async (target) => {
      const { hook, before, secret } = await pinged(target)
      const isPing = (arrival: Arrival) => !target.mentions(arrival)
      const ping = await hook.until((arrivals) => arrivals.slice(before).find(isPing))
      if (ping === undefined) throw target.missing('The ping')
      const { name } = signatureOf(ping, target.serviceName)
      must(name !== undefined, `The ping has no ${headerName(target)}.`)
      must(
        secret === '' || isGenuine(ping, secret, target.serviceName),
        'The signature of the ping does not match.',
      )
    },
    reachable,
  ),
  one(
    'post',
    'an event arrives as a POST',
    'section 6, rule 1: each delivery is an HTTP POST',
    async (target) => {
      const { arrival } = await created(target)
      must(arrival.method === 'POST', `The event arrived as ${arrival.method}.`)
    },
  ),
  one('envelope', 'the body is the envelope', 'section 2: id, type, created_at, data', async (target) => {
    const json = bodyOf((await created(target)).arrival)
    const missing = ['id', 'type', 'created_at', 'data'].filter((name) => at(json, name) === undefined)
    must(missing.length === 0, `The body lacks ${missing.join(', ')}.`)
    const [id, data] = [at(json, 'id'), at(json, 'data')]
    must(
      typeof id === 'string' && id !== '',
      `The envelope's id is ${JSON.stringify(id)}; expected a string.`,
    )
    must(isObject(data), "The envelope's data is not an object.")
  }),
  advice('type', 'a new check is delivered as check.created', 'section 6: event types', async (target) => {
    const type = typeOf((await created(target)).arrival)
    must(type === 'check.created', `The type is ${JSON.stringify(type)}.`)
  }),
  one('created_at', 'created_at is an ISO 8601 time in UTC', 'section 2: created_at', async (target) => {
    const time = at(bodyOf((await created(target)).arrival), 'created_at')
    if (time === undefined) throw new NotChecked('The envelope has no created_at.')
    const isUtc = typeof time === 'string' && UTC.test(time)
    must(isUtc, `created_at is ${JSON.stringify(time)}; expected an ISO 8601 time in UTC.`)
  }),
  one(
    'data',
    'data is what GET of the check returns',
    'section 2: identical to what the matching GET returns',
    async (target) => {
      const { arrival, check } = await created(target)
      const data = at(bodyOf(arrival), 'data')
      if (data === undefined) throw new NotChecked('The envelope has no data.')
      const read = await target.read(check)
      const isSame = unwrapped(read).some((part) =>
        unwrapped(data).some((other) => isDeepStrictEqual(part, other)),
      )
      must(isSame, 'data is not what GET returned after the push.')
    },
  ),
  one(
    'ids_differ',
    'two events have different ids',
    'section 2: unique event identifier',
    async (target) => {
      const { plain } = await changed(target)
      const first = about(plain.hook.arrivals, plain.a)[0]
      if (first === undefined || idOf(first) === undefined) throw new NotChecked('The envelope has no id.')
      must(idOf(first) !== idOf(plain.update), `Two events have the same id, ${JSON.stringify(idOf(first))}.`)
    },
    changed,
  ),
  advice(
    'change',
    'a changed check is delivered as check.updated',
    'section 6: check.updated',
    async (target) => {
      const { plain } = await changed(target)
      const update = await plain.hook.until((arrivals) =>
        about(arrivals, plain.b).find((arrival) => typeOf(arrival) === 'check.updated'),
      )
      must(update !== undefined, `The change arrived as ${JSON.stringify(typeOf(plain.update))}.`)
    },
  ),
  one(
    'replay_is_silent',
    'a replay causes no event',
    'section 4, rule 1: replaying an identical call has no effect',
    async (target) => {
      const { plain, replayed } = await changed(target)
      const [expected, seen] = [plain, replayed].map(({ hook, a }) =>
        eventCount(about(hook.arrivals, a)),
      ) as [number, number]
      must(
        seen <= expected,
        `A push and a change caused ${expected} events; with three replays between, ${seen}.`,
      )
    },
    changed,
  ),
  one(
    'only_asked_for',
    'an endpoint gets only the event types that it lists',
    "section 6, rule 7: only the types in an endpoint's event_types",
    async (target) => {
      const { other } = await subscribed(target)
      if (other instanceof NotChecked) throw other
      const foreign = other.hook.arrivals.filter(target.mentions).map((arrival) => String(typeOf(arrival)))
      const wrong = foreign.find((type) => type !== NEVER && eventTypes.some((one) => one === type))
      must(wrong === undefined, `An endpoint for ${NEVER} got ${wrong}.`)
    },
    changed,
  ),
  one(
    'signature_form',
    'the signature header has its form',
    'section 5: t=<unix_seconds>,v1=<hex_hmac_sha256>',
    async (target) => {
      const { name, value } = signatureOf((await created(target)).arrival, target.serviceName)
      must(name !== undefined, `The delivery has no ${headerName(target)}.`)
      must(/^t=\d+,v1=[0-9a-f]{64}$/.test(value), `${name} is ${JSON.stringify(value)}.`)
    },
  ),
  one(
    'signature_match',
    'the signature is that of t and the raw body',
    'section 5: HMAC-SHA256 of t, a period and the raw body',
    async (target) => {
      const { arrival, secret } = await created(target)
      const { v1 } = signatureOf(arrival, target.serviceName)
      if (secret === '' || v1 === '') throw new NotChecked('There is no secret or no v1 to compare with.')
      const isMatch = isGenuine(arrival, secret, target.serviceName)
      must(isMatch, "The signature does not match with the endpoint's secret.")
    },
  ),
  one(
    'signature_time',
    't is the present time in seconds',
    'section 5: t, within the tolerance of 300 seconds',
    async (target) => {
      const { t, value } = signatureOf((await created(target)).arrival, target.serviceName)
      if (value === '') throw new NotChecked('There is no signature header.')
      const isNow = t !== '' && Math.abs(Number(t) - Date.now() / 1000) <= 300
      must(isNow, `t is ${t === '' ? 'missing' : t}; expected unix seconds within 300 s of now.`)
    },
  ),
]

/** ISO 8601: calendar, week or ordinal dates, in basic or extended form, with an offset of zero. */
const UTC =
  /^\d{4}-?(?:(?:0[1-9]|1[0-2])-?(?:0[1-9]|[12]\d|3[01])|W[0-5]\d-?[1-7]|[0-3]\d\d)T(?:[01]\d|2[0-4])(?::?[0-5]\d(?::?[0-6]\d)?)?(?:[.,]\d+)?(?:Z|[+-]00(?::?00)?)$/i

function headerName({ serviceName = '<service name>' }: Target): string {
  return signatureHeader(serviceName)
}
