import { remove } from '../model/records.ts'
import { Refusal } from '../model/refusal.ts'
import type { WebhookEndpoint } from '../model/webhook-endpoint.ts'
import type { Operation } from './operation.ts'
import { retireDeliveries } from './retire-deliveries.ts'

/** An endpoint in a request. A key does not see endpoints of other locations (contract section 2). */
export interface EndpointAddress {
  endpoint_id: string
  location_id: string
}

function reads({ endpoint_id }: EndpointAddress) {
  return {
    endpoint: { collection: 'endpoints', id: endpoint_id },
    pending: { collection: 'deliveries', lookup: 'pending_of', key: endpoint_id },
  } as const
}

/** `DELETE /_sim/webhook-endpoints/{id}`: deletes the endpoint; its pending deliveries become dead. */
export const deleteEndpoint = {
  reads,
  decide({ endpoint, pending }, address) {
    const reply = foundEndpoint(endpoint, address)
    return {
      reply,
      writes: [remove('endpoints', address.endpoint_id), ...retireDeliveries(pending, reply)],
      events: [],
    }
  },
} satisfies Operation<EndpointAddress, ReturnType<typeof reads>, WebhookEndpoint>

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
