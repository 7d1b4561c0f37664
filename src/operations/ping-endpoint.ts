import type { Delivery } from '../model/delivery.ts'
import { put } from '../model/records.ts'
import { Refusal } from '../model/refusal.ts'
import { viewEndpoint } from '../model/webhook-endpoint.ts'
import { foundEndpoint, type EndpointAddress } from './delete-endpoint.ts'
import type { Operation } from './operation.ts'
import { firstDelivery, toStoredEvent } from './outbox.ts'

function reads({ endpoint_id }: EndpointAddress) {
  return { endpoint: { collection: 'endpoints', id: endpoint_id } } as const
}

/** `POST /webhook-endpoints/{id}/test`: creates a `ping` event and delivers it to this endpoint only. */
export const pingEndpoint = {
  reads,
  decide(records, address, context) {
    const endpoint = foundEndpoint(records.endpoint, address)
    if (endpoint.status === 'disabled')
      throw new Refusal(
        'endpoint_disabled',
        `Webhook endpoint ${endpoint.id} is disabled (${endpoint.disabled_reason}), so no ping was sent. Register its URL again.`,
      )
    const event = toStoredEvent(
      { type: 'ping', data: viewEndpoint(endpoint), external_check_id: null },
      context,
    )
    const delivery = firstDelivery(event, endpoint, context)
    return { reply: delivery, writes: [put('events', event), put('deliveries', delivery)], events: [] }
  },
} satisfies Operation<EndpointAddress, ReturnType<typeof reads>, Delivery>
