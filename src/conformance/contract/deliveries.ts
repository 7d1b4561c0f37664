import { isObject } from '../../model/validation.ts'
import { setTimeout as sleep } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import { diagnose, type Mistake } from '../../signature/diagnose/diagnose.ts'
import { verify } from '../../signature/verify.ts'
import { eventTypes } from '../../model/event.ts'
import { COUNT_BYTES, startOf } from '../../model/text/advice.ts'
import { signatureHeader } from '../../model/text/service-name.ts'
import {
  envelopeOf,
  eventCount,
  eventIdOf,
  isGenuine,
  lagOf,
  signatureOf,
  eventTypeOf,
  type Arrival,
  type Hook,
} from './receiver.ts'
import { isSuccess } from './ask.ts'
import { rulesOf, type ContractCase, type CaseRule } from './case.ts'
import { reachable } from './endpoints.ts'
import {
  about,
  arrivedPing,
  changed,
  changedItems,
  closedEvent,
  conflictEvents,
  firstEvent,
  dataOf,
  events,
  marked,
  NEVER,
  OUTDATED,
  pingAt,
  differsFromRead,
  lateEventsArrived,
  shown,
  subscribed,
} from './events.ts'
import { inOrder } from './fields.ts'
import { Broken, ifPossible, must, NotChecked } from './outcome.ts'
import { accepted } from './pushes.ts'
import { at, isTime, nested } from './shape.ts'
import type { Registered, Target } from './target.ts'
import type { Item } from './trial-checks.ts'

const rule = rulesOf('deliveries', firstEvent)

/** Which operation causes which event is not shown, so a case about that is advice. */
const advice = (...given: Parameters<typeof rule>): CaseRule => ({ ...rule(...given), basis: 'advice' })

/** Tolerance between the time of a signature and its arrival, in seconds (section 5). */
const TOLERANCE = 300

/** Specification, sections 2, 5 and 6: deliveries, their targets and their signatures. */
export const deliveries: readonly ContractCase[] = [
  rule(
    'event',
    'an event about a check is delivered',
    'section 1: endpoints receive notifications about checks',
    async (target) => void (await firstEvent(target)),
    async (target) => {
      await accepted(target)
      await reachable(target)
    },
  ),
  rule(
    'ping',
    'a ping arrives, signed',
    'section 4: sends a signed ping to that endpoint',
    async (target) => {
      const { ping, secrets } = await arrivedPing(target)
      const { name, value, t, v1 } = signatureOf(ping, target.serviceName)
      must(name !== undefined, `The ping has no ${headerName(target, ping)}.`)
      must(v1 !== '', `The signature of the ping has no v1=: ${JSON.stringify(value)}.`)
      must(
        secrets.length === 0 || isGenuine(ping, secrets, target.serviceName),
        `The signature of the ping does not match.${mistakeOf(target, ping, secrets)}`,
      )
      must(t !== '', 'The signature of the ping has no t.')
      must(
        lagOf(ping, target.serviceName) <= TOLERANCE,
        `In the signature of the ping, ${wrongTime(t, ping)}.`,
      )
    },
    reachable,
  ),
  rule(
    'ping_to_one',
    'a ping goes only to its endpoint',
    'section 4: sends a signed ping to that endpoint',
    async (target) => {
      const { all, never, updates } = await subscribed(target)
      const endpoint = never instanceof NotChecked ? updates : never
      if (endpoint instanceof NotChecked) throw endpoint
      const here = endpoint.hook.arrivals.length
      const known = new Set(all.hook.arrivals.map(eventIdOf))
      await target.ping(endpoint)
      const type = eventTypeOf(await pingAt(target, endpoint.hook, here))
      await sleep(target.timeouts.quietMs)
      // Meanwhile other events may arrive, whose types are listed, and duplicates, whose ids are known.
      const isTold = type !== undefined && !isListed(type)
      const others = all.hook.arrivals.filter(
        (arrival) =>
          !target.mentions(arrival) && eventTypeOf(arrival) === type && !known.has(eventIdOf(arrival)),
      ).length
      must(!isTold || others === 0, 'A ping of one endpoint also arrived at another endpoint.')
    },
    arrivedPing,
  ),
  rule(
    'post',
    'an event arrives as a POST',
    'section 6, rule 1: each delivery is an HTTP POST',
    async (target) => {
      const wrong = (await events(target)).find(({ arrival }) => arrival.method !== 'POST')
      must(wrong === undefined, `An event arrived as ${wrong?.arrival.method}.`)
    },
  ),
  advice(
    'content_type',
    'an event arrives with the content type application/json',
    'section 6, rule 1: the body is the envelope, which is JSON',
    async (target) => {
      const types = (await events(target)).map(({ arrival }) => arrival.headers['content-type'] ?? '')
      const wrong = types.find((type) => !JSON_TYPE.test(type))
      must(
        wrong === undefined,
        `The content type is ${wrong === '' ? 'missing' : JSON.stringify(wrong)}, so receivers that decode by it do not see JSON.`,
      )
    },
  ),
  rule('envelope', 'the body is the envelope', 'section 2: id, type, created_at, data', async (target) => {
    for (const { arrival } of await events(target)) {
      const json = envelopeOf(arrival)
      must(json !== undefined, whyNoJson(arrival))
      const missing = ['id', 'type', 'created_at', 'data'].filter((name) => at(json, name) === undefined)
      must(missing.length === 0, `The body lacks ${missing.join(', ')}.`)
      const [id, data] = [at(json, 'id'), at(json, 'data')]
      must(
        typeof id === 'string' && id !== '',
        `The envelope's id is ${JSON.stringify(id)}; expected a string.`,
      )
      must(isObject(data), "The envelope's data is not an object.")
    }
    // Further types are the service's choice, but the listed ones have these names.
    const types = (await events(target)).map(({ arrival }) => eventTypeOf(arrival))
    const names = [...new Set(types)].join(', ')
    must(types.some(isListed), `No event about a check has a type of section 6: ${names}.`)
  }),
  advice('type', 'a new check is delivered as check.created', 'section 6: event types', async (target) => {
    const type = eventTypeOf((await firstEvent(target)).arrival)
    if (type === undefined) throw new NotChecked('The envelope has no type.')
    must(type === 'check.created', `The type is ${JSON.stringify(type)}.`)
  }),
  rule('created_at', 'created_at is an ISO 8601 time in UTC', 'section 2: created_at', async (target) => {
    for (const { arrival } of await events(target)) {
      const time = at(envelopeOf(arrival), 'created_at')
      if (time === undefined) throw new NotChecked('The envelope has no created_at.')
      const isUtc = typeof time === 'string' && UTC.test(time)
      must(isUtc, `created_at is ${JSON.stringify(time)}; expected an ISO 8601 time in UTC.`)
      const ahead = Date.parse(time) - arrival.at
      // A clock that can be moved may be ahead, or anywhere with all times of the service.
      const isMovable = target.profile.clock !== undefined
      const isNear = Math.abs(ahead) < HOUR_MS || (isMovable && (ahead > 0 || hasTimeNear(arrival, time)))
      must(isNear || Number.isNaN(ahead), `created_at is ${time}, which is more than one hour from now.`)
    }
  }),
  rule(
    'data',
    'data equals the response of GET for the check',
    'section 2: identical to what the matching GET returns',
    sentAsRead,
  ),
  advice(
    'change',
    'a changed check is delivered as check.updated',
    'section 6: check.updated',
    async (target) => {
      const { plain } = await changed(target)
      const update = await plain.hook.until((arrivals) =>
        about(arrivals, plain.b).find((arrival) => eventTypeOf(arrival) === 'check.updated'),
      )
      const type = eventTypeOf(plain.update.arrival)
      if (type === undefined) throw new NotChecked('The envelope has no type.')
      must(update !== undefined, `The change arrived as ${JSON.stringify(type)}.`)
    },
  ),
  rule(
    'signature_form',
    'the signature header has the specified form',
    'section 5: t=<unix_seconds>,v1=<hex_hmac_sha256>',
    async (target) => {
      for (const { arrival } of await events(target)) {
        const { name, value } = signatureOf(arrival, target.serviceName)
        must(name !== undefined, `The delivery has no ${headerName(target, arrival)}.`)
        must(/^t=\d+,v1=[0-9a-f]{64}$/.test(value), `${name} is ${JSON.stringify(value)}.`)
      }
    },
  ),
  rule(
    'signature_match',
    'the signature covers t and the raw body',
    'section 5: HMAC-SHA256 of t, a period and the raw body',
    async (target) => {
      const all = await events(target)
      const signed = all.filter(
        ({ arrival, secrets }) => secrets.length > 0 && signatureOf(arrival, target.serviceName).v1 !== '',
      )
      if (signed.length === 0)
        throw new NotChecked('The secret or v1 is missing, so signatures cannot be compared.')
      const wrong = signed.find(({ arrival, secrets }) => !isGenuine(arrival, secrets, target.serviceName))
      if (wrong === undefined) return
      const type = eventTypeOf(wrong.arrival)
      throw new Broken(
        `The signature of ${typeof type === 'string' ? type : 'an event'} does not match the secret of the endpoint.${mistakeOf(target, wrong.arrival, wrong.secrets)}`,
      )
    },
  ),
  rule(
    'signature_time',
    't is the current time in seconds',
    'section 5: t, within the tolerance of 300 seconds',
    async (target) => {
      for (const { arrival } of await events(target)) {
        const { t, value } = signatureOf(arrival, target.serviceName)
        if (value === '') throw new NotChecked('The delivery has no signature header.')
        const isNow = lagOf(arrival, target.serviceName) <= TOLERANCE
        must(isNow, `${t === '' ? 't is missing' : wrongTime(t, arrival)}.`)
      }
    },
  ),
]

/** Deliveries that must not arrive, checked after all earlier cases had time to cause them. */
export const lateDeliveries: readonly ContractCase[] = [
  rule(
    'replay_is_silent',
    'a replay emits no event',
    'section 4, rule 1: replaying an identical call has no effect',
    async (target) => {
      const { plain, replayed } = await changed(target)
      await lateEventsArrived(target)
      const expected = eventsAbout(plain.a, plain.hook)
      const seen = eventsAbout(replayed.a, replayed.hook)
      must(
        seen <= expected,
        `Events of a push and two changes: ${expected}. With three replays of each: ${seen}.`,
      )
    },
    changed,
  ),
  rule(
    'conflict_is_silent',
    'a push with a conflict emits no event',
    'section 4, rule 4: the existing check is left unchanged',
    async (target) => {
      const { hook, plain, refused } = await conflictEvents(target)
      await lateEventsArrived(target)
      const [expected, seen] = [eventsAbout(plain, hook), eventsAbout(refused, hook)]
      must(seen <= expected, `Events of a claimed check: ${expected}. With a refused push: ${seen}.`)
    },
    changed,
  ),
  rule(
    'stale_is_silent',
    'a late older push appears in no event',
    'section 4, rule 2, and section 2: data is the current state',
    async (target) => {
      const { all } = await subscribed(target)
      const check = target.freshCheck()
      const [a, b] = [check.item('a'), check.item('b')]
      await target.push(check, target.ordered(target.body(check, [b]), 2))
      await shown(target, all.hook, check, b, 'The delivery for a new check')
      await target.ask('PUT', check.path, { json: target.ordered(target.body(check, [a]), 1) })
      await marked(target, all.hook)
      const isStale = (arrival: Arrival) =>
        target.entriesIn(at(envelopeOf(arrival), 'data'), a, false).length > 0
      must(
        !all.hook.arrivals.some(isStale),
        'An event contains an older push that arrived after a newer one.',
      )
    },
    async (target) => {
      await inOrder(target)
      await changed(target)
    },
  ),
  rule(
    'only_asked_for',
    'an endpoint gets only its registered event types',
    "section 6, rule 7: only the types in an endpoint's event_types",
    async (target) => {
      await lateEventsArrived(target)
      const { all, never, updates } = await subscribed(target)
      const lists = [
        { endpoint: all, listed: ['check.created', 'check.updated'] },
        { endpoint: never, listed: [NEVER] },
        { endpoint: updates, listed: ['check.updated'] },
      ]
      for (const { endpoint, listed } of lists) {
        if (endpoint instanceof NotChecked) continue
        const types = endpoint.hook.arrivals
          .filter(target.mentions)
          .map((arrival) => String(eventTypeOf(arrival)))
        // Types of its own are the service's choice.
        const wrong = types.find((type) => !listed.includes(type) && isListed(type))
        must(wrong === undefined, `An endpoint for ${listed.join(' and ')} got ${wrong}.`)
      }
      if (never instanceof NotChecked) throw never
    },
    changed,
  ),
  rule(
    'all_asked_for',
    'an endpoint gets all its registered event types',
    'section 2: event_types are the event types to deliver',
    async (target) => {
      await lateEventsArrived(target)
      const { all, updates } = await subscribed(target)
      if (updates instanceof NotChecked) throw updates
      const items = await changedItems(target)
      const isUpdated = ({ hook }: Registered) =>
        items.some((item) => about(hook.arrivals, item).some((one) => eventTypeOf(one) === 'check.updated'))
      const [first, second] = [isUpdated(all), isUpdated(updates)]
      if (!first && !second) throw new NotChecked('No check.updated arrived for the changes of this run.')
      must(second, 'An endpoint for check.updated got none, but another endpoint did.')
      must(
        first,
        'An endpoint for check.created and check.updated got no check.updated, but another endpoint did.',
      )
    },
  ),
  rule(
    'ids_differ',
    'two events have different ids',
    'section 2: unique event identifier',
    async (target) => {
      const { all, updates } = await subscribed(target)
      const first = about(all.hook.arrivals, (await firstEvent(target)).a)[0]
      if (first === undefined || eventIdOf(first) === undefined)
        throw new NotChecked('The envelope has no id.')
      for (const endpoint of [all, updates])
        if (!(endpoint instanceof NotChecked))
          requireOneEventPerId(endpoint.hook.arrivals.filter(target.mentions))
    },
    changed,
  ),
  rule(
    'exact_url',
    'a delivery goes to the whole url, with its query',
    'section 2: url; section 4: the ping is sent to that endpoint',
    async (target) => {
      const hook = target.receiver.open()
      const url = hook.url + QUERY
      const answer = await target.tryToRegister({ json: { url, event_types: [NEVER] } })
      if (!isSuccess(answer))
        throw new NotChecked(
          `The service refuses a further endpoint, whose url has a query (${answer.status}).`,
        )
      await target.ping({ secrets: [], url, hook, answer, isUnreachable: false })
      const ping = await ifPossible(pingAt(target, hook, 0))
      const elsewhere = target.receiver.strays().find((one) => one.includes('source'))
      must(elsewhere === undefined, `The ping of ${url} arrived as ${elsewhere}.`)
      if (ping === undefined) throw new NotChecked('The ping of an endpoint with a query did not arrive.')
      must(ping.target.endsWith(QUERY), `The ping of ${url} arrived as POST ${ping.target}.`)
    },
    arrivedPing,
  ),
  rule(
    'refused_is_silent',
    'a refused registration gets no deliveries',
    'section 4: POST /webhook-endpoints requires the key, and write scope',
    (target) => {
      const { refusedHooks } = target
      if (refusedHooks.length === 0) throw new NotChecked('No registration was refused because of its key.')
      const isUsed = refusedHooks.some(({ arrivals }) => arrivals.length > 0)
      must(!isUsed, 'A delivery arrived for a registration that was refused because of its key.')
      return Promise.resolve()
    },
    changed,
  ),
  // It registers a further endpoint, and a service may keep the last one alone.
  rule(
    'closed_data',
    'data of check.closed equals the response of GET for the check',
    'section 2: identical to what the matching GET returns',
    async (target) => {
      const { arrival, check, item } = await closedEvent(target)
      requireData(arrival)
      const differs = await differsFromRead(target, arrival, check, item)
      must(differs === undefined, `data of check.closed differs from the response of GET in ${differs}.`)
    },
    sentAsRead,
  ),
]

const HOUR_MS = 3_600_000

/** Content types of JSON, such as `application/cloudevents+json; charset=utf-8`. */
const JSON_TYPE = /^application\/([\w.-]+\+)?json\s*(;|$)/i

/** Returns true when a time in an event's data is less than an hour from another. */
function hasTimeNear(arrival: Arrival, time: string): boolean {
  return [...nested(dataOf(arrival))].some(
    ({ value }) =>
      typeof value === 'string' && isTime(value) && Math.abs(Date.parse(value) - Date.parse(time)) < HOUR_MS,
  )
}

/** Describes a body that is not JSON. A length in characters cuts off as many bytes as the text has beyond ASCII. */
function whyNoJson({ body }: Arrival): string {
  const text = body.toString()
  if (text === '') return 'The body is empty.'
  const isCut = /^\s*\{/.test(text) && !/\}\s*$/.test(text)
  return isCut
    ? `The body is cut off after ${body.length} bytes. ${COUNT_BYTES}`
    : `The body is not JSON: ${JSON.stringify(startOf(text, 80))}.`
}

/** Describes a `t` that is not the current time in seconds. */
function wrongTime(t: string, { at: arrivedAt }: Arrival): string {
  const isMs = Math.abs(Number(t) - arrivedAt) <= TOLERANCE * 1000
  return isMs
    ? `t is ${t}, in milliseconds; expected unix seconds`
    : `t is ${t}; expected unix seconds within ${TOLERANCE} s of now`
}

/** The query of a registered URL. Its escapes stand for characters that would mean something else there. */
const QUERY = '?source=till&key=a%2Bb%26c%3D'

/** Counts the events about an item whose types the specification lists. Events of further types are the service's own. */
function eventsAbout(item: Item, { arrivals }: Hook): number {
  return eventCount(about(arrivals, item).filter((arrival) => isListed(eventTypeOf(arrival))))
}

function isListed(type: unknown): boolean {
  return eventTypes.some((listed) => listed === type)
}

/** Compares data with the response of GET, of a new check and of a changed one; done once. @throws Broken where they differ. */
function sentAsRead(target: Target): Promise<void> {
  return target.once('data', async () => {
    const { arrival, check, a, isLate } = await firstEvent(target)
    requireData(arrival)
    const differs = await differsFromRead(target, arrival, check, a)
    if (isLate && differs !== undefined)
      throw new NotChecked(
        `No event arrived within ${target.timeouts.eventMs / 1000} s, and by then the check was changed. If the service sends later, pass --wait.`,
      )
    must(differs === undefined, `data differs from the response of GET after the first push, in ${differs}.`)
    const plain = await changed(target).then(
      (both) => both.plain,
      (error: unknown) => {
        if (error instanceof NotChecked || (error instanceof Broken && error.message !== OUTDATED))
          return undefined
        throw error
      },
    )
    const later = plain?.update.differs
    if (later instanceof NotChecked) return
    must(later === undefined, `data differs from the response of GET after a change, in ${later}.`)
  })
}

function requireData(arrival: Arrival): void {
  if (dataOf(arrival) === undefined) throw new NotChecked('The envelope has no data.')
}

/** @throws Broken when deliveries of one id differ in type or data: an attempt may say its number elsewhere. */
function requireOneEventPerId(arrivals: readonly Arrival[]): void {
  const known = new Map<unknown, Arrival>()
  for (const arrival of arrivals) {
    const id = eventIdOf(arrival)
    const before = known.get(id)
    if (before === undefined) known.set(id, arrival)
    else if (
      eventTypeOf(before) !== eventTypeOf(arrival) ||
      !isDeepStrictEqual(dataOf(before), dataOf(arrival))
    )
      throw new Broken(`Two events have the same id, ${JSON.stringify(id)}.`)
  }
}

/** ISO 8601: calendar, week or ordinal dates, in basic or extended form, with an offset of zero. */
const UTC =
  /^\d{4}-?(?:(?:0[1-9]|1[0-2])-?(?:0[1-9]|[12]\d|3[01])|W[0-5]\d-?[1-7]|[0-3]\d\d)T(?:[01]\d|2[0-4])(?::?[0-5]\d(?::?[0-6]\d)?)?(?:[.,]\d+)?(?:Z|[+-]00(?::?00)?)$/i

/** Advice for senders about mistakes for which `diagnose` advises receivers. */
const ofSender: Readonly<Partial<Record<Mistake, string>>> = {
  secret_of_another_endpoint:
    'It matches the secret of another endpoint. Sign with the secret of the endpoint that gets the delivery.',
  secret_without_prefix: 'The key lacks whsec_. Sign with the whole secret, as the registration returned it.',
}

/** Names the mistake behind a wrong signature and what to do, after a space; empty where no known one explains it exactly. */
function mistakeOf(target: Target, arrival: Arrival, secrets: readonly string[]): string {
  const { value } = signatureOf(arrival, target.serviceName)
  if (value === '' || secrets.length === 0) return ''
  const given = { payload: arrival.body, header: value, now: arrival.at }
  const isSigning = (one: string) => one.startsWith('whsec_')
  const keys = target.secrets().filter((one) => !isSigning(one))
  if (keys.some((secret) => verify({ ...given, secret, tolerance: Infinity }).ok))
    return ' It is signed with an API key. Sign with the signing secret of the endpoint.'
  const others = target.secrets().filter((one) => isSigning(one) && !secrets.includes(one))
  const found = diagnose({ ...given, secret: secrets, others })
  if (found === undefined) return ''
  const { mistake, advice } = found
  const isBody = /^(json|body|trailing|line_endings|byte_order|wrong_charset)/.test(mistake)
  const signsOther = `The signed body is not the sent one (${mistake}). Sign the bytes that are sent.`
  return ` ${ofSender[mistake] ?? (isBody ? signsOther : advice)}`
}

/** The name of the signature header, with another header of the delivery that may be meant as one. */
function headerName({ serviceName = '<service name>' }: Target, { headers }: Arrival): string {
  const other = Object.keys(headers).find((name) => name.includes('signature'))
  return `${signatureHeader(serviceName)}${other === undefined ? '' : `, but ${other}`}`
}
