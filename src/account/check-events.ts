import type { Check } from '../model/check.ts'
import type { Delivery } from '../model/delivery.ts'
import type { EventType, StoredEvent } from '../model/event.ts'
import type { Everything } from '../model/records.ts'

/** An event of a check, with its deliveries. */
export interface CheckEvent {
  id: string
  type: EventType
  created_at: string
  /** Id of the payment of a payment event, otherwise of the check. */
  subject: string
  deliveries: readonly Delivery[]
  /** The check after an applied push; `undefined` for other events. */
  after: CheckAfter | undefined
}

/** The part of a check that shows whether a push takes an amount off the bill. */
interface CheckAfter {
  status: Check['status']
  total_cents: number
  /** Sum of the lines with a negative price; 0 or below. */
  discount_cents: number
}

/** Types of events that a receiver must accept, because they are about money. */
const aboutMoney: readonly StoredEvent['type'][] = [
  'payment.succeeded',
  'payment.refunded',
  'check.fully_paid',
]

/** Types of events that show an applied push. */
const pushed: readonly StoredEvent['type'][] = ['check.created', 'check.updated', 'check.closed']

/**
 * Returns the events about money and about applied pushes by the external id of their check, oldest first. Reads no
 * body of other events. `owned` says which checks and payments belong to the location.
 */
export function eventsByCheck(
  { events, deliveries }: Pick<Everything, 'events' | 'deliveries'>,
  owned: ReadonlySet<string>,
): Map<string, CheckEvent[]> {
  const sent = groupedBy(deliveries, ({ event_id }) => event_id)
  const happened = new Map<string, CheckEvent[]>()
  for (const { id, type, created_at, external_check_id, body } of events) {
    if (external_check_id === null || type === 'ping') continue
    if (!aboutMoney.includes(type) && !pushed.includes(type)) continue
    const { data } = JSON.parse(body) as { data: { id: string } }
    const subject = data.id
    if (!owned.has(subject)) continue
    const after = pushed.includes(type) ? checkAfterPush(data as Check) : undefined
    const one = { id, type, created_at, subject, deliveries: sent.get(id) ?? [], after }
    const before = happened.get(external_check_id)
    if (before === undefined) happened.set(external_check_id, [one])
    else before.push(one)
  }
  return happened
}

/** Groups records by a key, each group in the order of the records. */
export function groupedBy<T>(records: readonly T[], keyOf: (record: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>()
  for (const record of records) {
    const key = keyOf(record)
    const group = groups.get(key)
    if (group === undefined) groups.set(key, [record])
    else group.push(record)
  }
  return groups
}

/** Returns true for an event about money. */
export function isAboutMoney({ type }: CheckEvent): boolean {
  return aboutMoney.includes(type)
}

function checkAfterPush({ status, totals: { total_cents }, items }: Check): CheckAfter {
  const discounts = items.filter(({ price_cents }) => price_cents < 0)
  const discount_cents = discounts.reduce(
    (sum, { quantity, price_cents }) => sum + Math.round(quantity * price_cents),
    0,
  )
  return { status, total_cents, discount_cents }
}

/** Returns the start of the attempt that a receiver accepted first; `undefined` without one. */
export function acceptedAt({ deliveries }: CheckEvent): string | undefined {
  const times = deliveries.flatMap(({ attempts }) =>
    attempts.filter(({ outcome }) => outcome === 'succeeded').map(({ started_at }) => started_at),
  )
  return times.toSorted()[0]
}
