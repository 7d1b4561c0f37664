import type { Delivery } from '../model/delivery.ts'
import { put, remove } from '../model/records.ts'
import { Refusal } from '../model/refusal.ts'
import { type ChosenSecretBody, viewEndpoint, type WebhookEndpoint } from '../model/webhook-endpoint.ts'
import type { NoReads, Operation } from './operation.ts'
import { firstDelivery, toStoredEvent } from './outbox.ts'
import { retireDeliveries } from './pending-deliveries.ts'

interface RegisterEndpoint extends ChosenSecretBody {
  /** Location of the key that registers. The endpoint receives only this location's events (contract section 2). */
  location_id: string
}

/** `POST /webhook-endpoints`: creates an endpoint with its own secret, even for a URL that is already registered. */
export const registerEndpoint = {
  reads: () => ({}),
  decide(_records, { location_id, url, event_types, signing_secret }, { now, newId, newSecret }) {
    const endpoint: WebhookEndpoint = {
      id: newId('we'),
      location_id,
      url,
      event_types,
      status: 'enabled',
      disabled_at: null,
      disabled_reason: null,
      created_at: now.toISOString(),
      signing_secret: signing_secret ?? newSecret(),
      consecutive_failures: 0,
    }
    return { reply: endpoint, writes: [put('endpoints', endpoint)], events: [] }
  },
} satisfies Operation<RegisterEndpoint, NoReads, WebhookEndpoint>

/** An endpoint in a request. A key does not see endpoints of other locations (contract section 2). */
export interface EndpointAddress {
  endpoint_id: string
  location_id: string
}

function readsToDelete({ endpoint_id }: EndpointAddress) {
  return {
    endpoint: { collection: 'endpoints', id: endpoint_id },
    pending: { collection: 'deliveries', index: 'pending_of', key: endpoint_id },
  } as const
}

/** `DELETE /_sim/webhook-endpoints/{id}`: deletes the endpoint; its pending deliveries become dead. */
export const deleteEndpoint = {
  reads: readsToDelete,
  decide({ endpoint, pending }, address) {
    const reply = foundEndpoint(endpoint, address)
    return {
      reply,
      writes: [
        remove('endpoints', address.endpoint_id),
        ...retireDeliveries(pending, reply, { keepsOffers: false }),
      ],
      events: [],
    }
  },
} satisfies Operation<EndpointAddress, ReturnType<typeof readsToDelete>, WebhookEndpoint>

/** @throws Refusal `not_found` when the location has no endpoint with this id. */
export function foundEndpoint(
  endpoint: WebhookEndpoint | undefined,
  { endpoint_id, location_id }: EndpointAddress,
): WebhookEndpoint {
  if (endpoint === undefined || endpoint.location_id !== location_id) throw endpointNotFound(endpoint_id)
  return endpoint
}

export function endpointNotFound(id: string): Refusal {
  return new Refusal(
    'not_found',
    `Webhook endpoint ${id} not found at this key's location. GET /webhook-endpoints lists the endpoints.`,
  )
}

function readsToPing({ endpoint_id }: EndpointAddress) {
  return { endpoint: { collection: 'endpoints', id: endpoint_id } } as const
}

/** Returns the refusal to send something to a disabled endpoint. */
export function endpointDisabled({ id, disabled_reason }: WebhookEndpoint, consequence: string): Refusal {
  return new Refusal(
    'endpoint_disabled',
    `Webhook endpoint ${id} is disabled (${disabled_reason}), so ${consequence}. Register its URL again.`,
  )
}

/** `POST /webhook-endpoints/{id}/test`: creates a `ping` event and delivers it to this endpoint only. */
export const pingEndpoint = {
  reads: readsToPing,
  decide(records, address, context) {
    const endpoint = foundEndpoint(records.endpoint, address)
    if (endpoint.status === 'disabled') throw endpointDisabled(endpoint, 'no ping was sent')
    const event = toStoredEvent(
      { type: 'ping', json: JSON.stringify(viewEndpoint(endpoint)), external_check_id: null },
      context,
    )
    const delivery = firstDelivery(event, endpoint, context)
    return { reply: delivery, writes: [put('events', event), put('deliveries', delivery)], events: [] }
  },
} satisfies Operation<EndpointAddress, ReturnType<typeof readsToPing>, Delivery>
