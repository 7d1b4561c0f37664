import { checkKey, type Check } from '../check.ts'
import type { Delivery } from '../delivery.ts'
import type { Envelope, StoredEvent } from '../event.ts'
import type { Payment } from '../guests/payment.ts'
import type { Everything } from '../records.ts'
import { stateCollections, type StateCollection } from './state-records.ts'
import type { ValidationIssue } from '../validation.ts'

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
