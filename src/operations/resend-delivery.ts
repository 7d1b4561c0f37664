import type { Delivery } from '../model/delivery.ts'
import { put } from '../model/records.ts'
import { Refusal } from '../model/refusal.ts'
import { endpointNotFound } from './delete-endpoint.ts'
import type { Operation } from './operation.ts'
import { firstDelivery } from './outbox.ts'

/** The event and the endpoint of the delivery that is sent again: neither ever changes. */
interface ResendDelivery {
  event_id: string
  endpoint_id: string
}

function reads({ event_id, endpoint_id }: ResendDelivery) {
  return {
    event: { collection: 'events', id: event_id },
    endpoint: { collection: 'endpoints', id: endpoint_id },
  } as const
}

/**
 * `POST /_sim/deliveries/{id}/resend`: a new delivery of the same event, and so of the same bytes, to the same endpoint.
 * The earlier one stays as it ended; this one has all of its attempts before it.
 */
export const resendDelivery = {
  reads,
  decide({ event, endpoint }, { event_id, endpoint_id }, context) {
    if (endpoint === undefined) throw endpointNotFound(endpoint_id)
    if (event === undefined)
      throw new Refusal(
        'not_found',
        `Event ${event_id} is no longer there to be sent again: finished ones are kept up to a limit.`,
      )
    if (endpoint.status === 'disabled')
      throw new Refusal(
        'endpoint_disabled',
        `Webhook endpoint ${endpoint_id} is disabled (${endpoint.disabled_reason}), so nothing is sent to it. Register the URL again to resume.`,
      )
    const delivery = firstDelivery(event, endpoint, context)
    return { reply: delivery, writes: [put('deliveries', delivery)], events: [] }
  },
} satisfies Operation<ResendDelivery, ReturnType<typeof reads>, Delivery>
