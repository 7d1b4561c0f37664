import { z } from 'zod'
import type { Everything } from '../records.ts'
import { checkKey, type Check } from '../check.ts'
import type { Delivery } from '../delivery.ts'
import type { Envelope, StoredEvent } from '../event.ts'
import type { Payment } from '../guests/records.ts'
import { invalid, isObject, issuesOf, type ValidationIssue } from '../validation.ts'
import { STATE_FORMAT, stateCollections, type StateCollection } from './state.ts'
import { stateRecords, time } from './state-records.ts'

const collections = Object.fromEntries(
  Object.entries(stateRecords).map(([name, record]) => [name, z.array(record)]),
) as { [C in StateCollection]: z.ZodArray<(typeof stateRecords)[C]> }

/** Years up to 9998: retries must fit after the clock's time, and years have four digits. */
const clock = z.strictObject({
  now: time.refine((text) => text >= '1970' && text < '9999', 'must be in a year from 1970 to 9998'),
  frozen: z.boolean(),
})

/** Schema of the response of `GET /_sim/state`, and of a `PUT` body after the upgrade. */
export const stateBody = z.strictObject({
  format: z.literal(STATE_FORMAT),
  clock,
  ...collections,
  locations: z.array(stateRecords.locations).min(1),
})

/** Schema of a state without its records. */
const stateWithoutRecords = stateBody.extend({
  ...Object.fromEntries(stateCollections.map((name) => [name, z.array(z.unknown())])),
  locations: z.array(z.unknown()).min(1),
})

/** Schema of a body of `PUT /_sim/state`: also format 1, without collections and fields of later versions. */
export const savedStateBody: z.ZodType = stateBody
  .extend({
    format: z.literal([1, STATE_FORMAT]),
    endpoints: z.array(stateRecords.endpoints.partial({ location_id: true })),
  })
  .partial({ payments: true, feedback: true })

/** Adds collections that earlier versions did not save, and gives endpoints without a location the first one. */
function upgraded(state: Readonly<Record<string, unknown>>): unknown {
  const { format, locations, endpoints } = state
  return {
    payments: [],
    feedback: [],
    ...state,
    ...(format === 1 && { format: STATE_FORMAT }),
    ...(Array.isArray(endpoints) && { endpoints: withLocation(endpoints, firstLocation(locations)) }),
  }
}

function withLocation(endpoints: readonly unknown[], location_id: string | undefined): unknown[] {
  return endpoints.map((endpoint) =>
    isObject(endpoint) && !('location_id' in endpoint)
      ? { id: endpoint.id, location_id, ...endpoint }
      : endpoint,
  )
}

function firstLocation(locations: unknown): string | undefined {
  const all: unknown[] = Array.isArray(locations) ? locations : []
  return all.flatMap((location) => (isObject(location) ? String(location.id) : [])).sort()[0]
}

/**
 * Converts a body of format 1 to the current format.
 * @throws Refusal `validation_failed` for other formats.
 */
export function inCurrentFormat(body: unknown): unknown {
  const state = isObject(body) ? upgraded(body) : body
  const { format } = (isObject(state) ? state : {}) as { format?: unknown }
  if (format === undefined || format === STATE_FORMAT) return state
  const message = `must be 1 or ${STATE_FORMAT}, got ${JSON.stringify(format)?.slice(0, 40)}. Load the state with the version of Tabwire that saved it`
  throw invalid([{ path: 'format', message }])
}

/** Yields the issues of the state without its records, then those of each record. */
export function* issuesOfRecords(state: unknown): Iterable<readonly ValidationIssue[]> {
  yield issuesOf(stateWithoutRecords, state, [])
  if (!isObject(state)) return
  for (const name of stateCollections) {
    const records: unknown = state[name]
    if (Array.isArray(records))
      for (const [index, record] of records.entries())
        yield issuesOf(stateRecords[name], record, [name, index])
  }
}

type Records = Pick<Everything, StateCollection>

/** Issues of one record; almost always none. */
type Issues = readonly ValidationIssue[]

/** Finds duplicate records and references to missing ones. Yields after each record, so that a caller can pause. */
export function* brokenRelations(state: Records): Iterable<Issues> {
  const { checks, claims, payments, feedback, endpoints, events, deliveries } = state
  const ids = (name: StateCollection) => repeated<Identified>(name, 'id', state[name], ({ id }) => id)
  const locationIds = yield* ids('locations')
  const checkIds = yield* ids('checks')
  const eventIds = yield* ids('events')
  for (const name of stateCollections)
    if (name !== 'locations' && name !== 'checks' && name !== 'events') yield* ids(name)
  yield* repeated('checks', 'external_id', checks, checkKey)
  yield* dangling('checks', 'location_id', checks, locationIds)
  yield* dangling('endpoints', 'location_id', endpoints, locationIds)
  yield* dangling('claims', 'check_id', claims, checkIds)
  yield* dangling('payments', 'check_id', payments, checkIds)
  yield* dangling('feedback', 'check_id', feedback, checkIds)
  yield* otherSums(checks, payments)
  yield* dangling('deliveries', 'event_id', deliveries, eventIds)
  for (const [index, event] of events.entries()) yield isEnvelope(event) ? [] : [otherBody(index)]
  const eventTypes = new Map(events.map(({ id, type }) => [id, type]))
  for (const [index, delivery] of deliveries.entries()) yield contradictions(delivery, index, eventTypes)
}

interface Identified {
  id: string
}

function* repeated<T extends Identified>(
  name: string,
  field: string,
  records: readonly T[],
  keyOf: (record: T) => string,
): Generator<Issues, ReadonlySet<string>> {
  const seen = new Set<string>()
  for (const [index, record] of records.entries()) {
    const key = keyOf(record)
    yield seen.has(key)
      ? [{ path: `${name}[${index}].${field}`, message: 'appears twice in this state' }]
      : []
    seen.add(key)
  }
  return seen
}

function* dangling<F extends string>(
  name: string,
  field: F,
  records: readonly Readonly<Record<F, string>>[],
  known: ReadonlySet<string>,
): Iterable<Issues> {
  for (const [index, record] of records.entries()) {
    const message = `must refer to a record of this state, got ${record[field]}`
    yield known.has(record[field]) ? [] : [{ path: `${name}[${index}].${field}`, message }]
  }
}

/** Returns true when the body is an envelope with the event's own fields, by which receivers identify it. */
function isEnvelope({ id, type, created_at, body }: StoredEvent): boolean {
  try {
    const envelope = JSON.parse(body) as Partial<Envelope> | null
    return envelope?.id === id && envelope.type === type && envelope.created_at === created_at
  } catch {
    return false
  }
}

function otherBody(index: number): ValidationIssue {
  return { path: `events[${index}].body`, message: 'must be the envelope of its event, as JSON text' }
}

/** Finds checks whose paid amount is not the sum of their payments. */
function* otherSums(checks: readonly Check[], payments: readonly Payment[]): Iterable<Issues> {
  const paid = new Map<string, number>()
  for (const { check_id, amount_cents, refunded_cents } of payments)
    paid.set(check_id, (paid.get(check_id) ?? 0) + amount_cents - refunded_cents)
  for (const [index, { id, paid_cents, balance_cents, totals }] of checks.entries()) {
    const sum = paid.get(id) ?? 0
    const at = (field: string, message: string) => [{ path: `checks[${index}].${field}`, message }]
    yield [
      paid_cents === sum ? [] : at('paid_cents', `must be the sum of its payments minus refunds, ${sum}`),
      balance_cents === totals.total_cents - sum
        ? []
        : at('balance_cents', 'must be total_cents minus paid_cents'),
    ].flat()
  }
}

function contradictions(
  { status, next_attempt_at, dead_reason, attempts, event_id, event_type }: Delivery,
  index: number,
  eventTypes: ReadonlyMap<string, string>,
): Issues {
  const at = (field: string, message: string) => [{ path: `deliveries[${index}].${field}`, message }]
  const type = eventTypes.get(event_id)
  return [
    (status === 'pending') === (next_attempt_at === null)
      ? at('next_attempt_at', 'must be a time while the delivery is pending, and null otherwise')
      : [],
    (status === 'dead') === (dead_reason === null)
      ? at('dead_reason', 'must be set when the delivery is dead, and null otherwise')
      : [],
    attempts.some(({ number }, place) => number !== place + 1)
      ? at('attempts', 'must be numbered 1, 2, 3 and so on')
      : [],
    type !== undefined && type !== event_type
      ? at('event_type', `must be the type of its event, ${type}`)
      : [],
  ].flat()
}
