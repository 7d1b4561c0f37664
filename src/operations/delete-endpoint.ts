import { remove } from '../model/records.ts'
import { Refusal } from '../model/refusal.ts'
import type { WebhookEndpoint } from '../model/webhook-endpoint.ts'
import type { Operation } from './operation.ts'
import { retireDeliveries } from './retire-deliveries.ts'

interface DeleteEndpoint {
  endpoint_id: string
}

function reads({ endpoint_id }: DeleteEndpoint) {
  return {
    endpoint: { collection: 'endpoints', id: endpoint_id },
    pending: { collection: 'deliveries', lookup: 'pending_of', key: endpoint_id },
  } as const
}

/** `DELETE /_sim/webhook-endpoints/{id}`: the endpoint goes, and what was still on its way to it is dead. */
export const deleteEndpoint = {
  reads,
  decide({ endpoint, pending }, { endpoint_id }) {
    if (endpoint === undefined) throw endpointNotFound(endpoint_id)
    return {
      reply: endpoint,
      writes: [remove('endpoints', endpoint_id), ...retireDeliveries(pending)],
      events: [],
    }
  },
} satisfies Operation<DeleteEndpoint, ReturnType<typeof reads>, WebhookEndpoint>

export function endpointNotFound(id: string): Refusal {
  return new Refusal(
    'not_found',
    `There is no webhook endpoint ${id}. GET /webhook-endpoints lists those there are.`,
  )
}
