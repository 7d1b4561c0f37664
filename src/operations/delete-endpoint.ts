import { remove } from '../model/records.ts'
import { Refusal } from '../model/refusal.ts'
import type { WebhookEndpoint } from '../model/webhook-endpoint.ts'
import type { Operation } from './operation.ts'
import { retireDeliveries } from './retire-deliveries.ts'

/** An endpoint as a key names it: those of other locations are not there for the key (contract section 2). */
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

/** `DELETE /_sim/webhook-endpoints/{id}`: the endpoint goes, and what was still on its way to it is dead. */
export const deleteEndpoint = {
  reads,
  decide({ endpoint, pending }, address) {
    return {
      reply: foundEndpoint(endpoint, address),
      writes: [remove('endpoints', address.endpoint_id), ...retireDeliveries(pending)],
      events: [],
    }
  },
} satisfies Operation<EndpointAddress, ReturnType<typeof reads>, WebhookEndpoint>

/** @throws Refusal `not_found` when there is none with this id at the location. */
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
    `There is no webhook endpoint ${id} at this key's location. GET /webhook-endpoints lists those there are.`,
  )
}
