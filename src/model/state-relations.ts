import { checkKey, type Check } from './check.ts'
import type { Delivery } from './delivery.ts'
import type { Envelope, StoredEvent } from './event.ts'
import type { Payment } from './payment.ts'
import type { Everything } from './records.ts'
import { stateCollections, type StateCollection } from './state-records.ts'
import type { ValidationIssue } from './validation.ts'

type Records = Pick<Everything, StateCollection>

/** What is wrong between records that are right by themselves: what is there twice, and what points to nothing. */
export function brokenRelations(state: Records): ValidationIssue[] {
  const { locations, checks, claims, payments, feedback, endpoints, events, deliveries } = state
  const eventOf = byId(events)
  return [
    ...stateCollections.flatMap((name) => repeated<Identified>(name, 'id', state[name], ({ id }) => id)),
    ...repeated('checks', 'external_id', checks, checkKey),
    ...dangling('checks', 'location_id', checks, locations),
    ...dangling('claims', 'check_id', claims, checks),
    ...dangling('payments', 'check_id', payments, checks),
    ...dangling('feedback', 'check_id', feedback, checks),
    ...dangling('endpoints', 'location_id', endpoints, locations),
    ...otherSums(checks, payments),
    ...dangling('deliveries', 'event_id', deliveries, events),
    ...events.flatMap((event, index) => (isEnvelope(event) ? [] : [otherBody(index)])),
    ...deliveries.flatMap((delivery, index) => contradictions(delivery, index, eventOf)),
  ]
}

interface Identified {
  id: string
}

function byId<T extends Identified>(records: readonly T[]): Map<string, T> {
  return new Map(records.map((record) => [record.id, record]))
}

function repeated<T extends Identified>(
  name: string,
  field: string,
  records: readonly T[],
  keyOf: (record: T) => string,
): ValidationIssue[] {
  const seen = new Set<string>()
  return records.flatMap((record, index) => {
    const again = seen.has(keyOf(record))
    seen.add(keyOf(record))
    return again ? [{ path: `${name}[${index}].${field}`, message: 'is there twice' }] : []
  })
}

function dangling<F extends string>(
  name: string,
  field: F,
  records: readonly Readonly<Record<F, string>>[],
  targets: readonly Identified[],
): ValidationIssue[] {
  const known = byId(targets)
  return records.flatMap((record, index) =>
    known.has(record[field])
      ? []
      : [
          {
            path: `${name}[${index}].${field}`,
            message: `names what is not in this state: ${record[field]}`,
          },
        ],
  )
}

/** The body is what receivers get, and they know the event by it. */
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

/** Guests' money is in the payments; what a check says of it is their sum. */
function otherSums(checks: readonly Check[], payments: readonly Payment[]): ValidationIssue[] {
  const paid = new Map<string, number>()
  for (const { check_id, amount_cents, refunded_cents } of payments)
    paid.set(check_id, (paid.get(check_id) ?? 0) + amount_cents - refunded_cents)
  return checks.flatMap(({ id, paid_cents, balance_cents, totals }, index) => {
    const sum = paid.get(id) ?? 0
    const at = (field: string, message: string) => [{ path: `checks[${index}].${field}`, message }]
    return [
      paid_cents === sum ? [] : at('paid_cents', `must be what its payments come to, ${sum}`),
      balance_cents === totals.total_cents - sum
        ? []
        : at('balance_cents', 'must be the total without paid_cents'),
    ].flat()
  })
}

function contradictions(
  { status, next_attempt_at, dead_reason, attempts, event_id, event_type }: Delivery,
  index: number,
  events: ReadonlyMap<string, StoredEvent>,
): ValidationIssue[] {
  const at = (field: string, message: string) => [{ path: `deliveries[${index}].${field}`, message }]
  const event = events.get(event_id)
  return [
    (status === 'pending') === (next_attempt_at === null)
      ? at('next_attempt_at', 'must be a time while the delivery is pending, and null otherwise')
      : [],
    (status === 'dead') === (dead_reason === null)
      ? at('dead_reason', 'must be given when the delivery is dead, and be null otherwise')
      : [],
    attempts.some(({ number }, place) => number !== place + 1)
      ? at('attempts', 'must be numbered 1, 2, 3 and so on')
      : [],
    event !== undefined && event.type !== event_type
      ? at('event_type', `must be that of its event, ${event.type}`)
      : [],
  ].flat()
}
