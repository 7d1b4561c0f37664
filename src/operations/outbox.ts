import type { Delivery } from '../model/delivery.ts'
import { envelopeText, type DomainEvent, type StoredEvent } from '../model/event.ts'
import { put, type Write } from '../model/records.ts'
import type { WebhookEndpoint } from '../model/webhook-endpoint.ts'
import type { Context } from './operation.ts'

/** Reads of the outbox, besides those of the operation. */
export const outboxReads = {
  subscribers: { collection: 'endpoints', index: 'status', key: 'enabled' },
} as const

/**
 * Converts events to stored events, each with a delivery per enabled endpoint of its location that lists the type. The
 * envelope is text from here on: every attempt signs and sends the stored bytes (contract section 8).
 */
export function outbox(
  events: readonly DomainEvent[],
  endpoints: Iterable<WebhookEndpoint>,
  context: Context,
): readonly Write[] {
  const writes: Write[] = []
  for (const happened of events) {
    const event = toStoredEvent(happened, context)
    writes.push(put('events', event))
    for (const endpoint of endpoints)
      if (endpoint.location_id === happened.location_id && endpoint.event_types.includes(happened.type))
        writes.push(put('deliveries', firstDelivery(event, endpoint, context)))
  }
  return writes
}

/** An event of a check, or a ping. */
type ToStore = Pick<DomainEvent, 'json' | 'external_check_id' | 'created_at'> & Pick<StoredEvent, 'type'>

/** Returns the stored event of an event: new id, time, serialised envelope, trace context. */
export function toStoredEvent(
  { type, json, external_check_id, ...given }: ToStore,
  { newId, now, trace }: Context,
): StoredEvent {
  const id = newId('evt')
  const created_at = given.created_at ?? now.toISOString()
  const body = envelopeText({ id, type, created_at }, json)
  const event = { id, type, created_at, external_check_id, body }
  return trace === undefined ? event : { ...event, ...trace }
}

/** Shared by all deliveries, since records are immutable. */
const none: Delivery['attempts'] = []

/** Returns a new delivery that is due now. */
export function firstDelivery(
  event: StoredEvent,
  endpoint: WebhookEndpoint,
  { newId, now }: Context,
): Delivery {
  return {
    id: newId('dlv'),
    event_id: event.id,
    event_type: event.type,
    endpoint_id: endpoint.id,
    external_check_id: event.external_check_id,
    status: 'pending',
    attempts: none,
    next_attempt_at: now.toISOString(),
    dead_reason: null,
  }
}
