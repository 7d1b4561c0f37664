import type { Delivery } from '../model/delivery.ts'
import { put } from '../model/records.ts'
import { Refusal } from '../model/refusal.ts'
import { invalid } from '../model/validation.ts'
import { endpointDisabled, endpointNotFound } from './endpoints.ts'
import type { Operation } from './operation.ts'
import { firstDelivery } from './outbox.ts'

/** The delivery to resend; its event and its endpoint never change. */
interface ResendDelivery {
  delivery: Pick<Delivery, 'id' | 'event_id' | 'endpoint_id' | 'attempts'>
  /** True signs each attempt; false repeats the header of the first attempt. */
  fresh: boolean
}

function reads({ delivery: { event_id, endpoint_id } }: ResendDelivery) {
  return {
    event: { collection: 'events', id: event_id },
    endpoint: { collection: 'endpoints', id: endpoint_id },
  } as const
}

/**
 * `POST /_sim/deliveries/{id}/resend`: creates a delivery of the same event, with the same bytes, to the same endpoint.
 * The earlier delivery does not change. The new one has all of its attempts, each newly signed, or verbatim with the
 * first header of the earlier one (contract section 9).
 */
export const resendDelivery = {
  reads,
  decide({ event, endpoint }, { delivery: earlier, fresh }, context) {
    const { event_id, endpoint_id } = earlier
    if (endpoint === undefined) throw endpointNotFound(endpoint_id)
    if (event === undefined)
      throw new Refusal(
        'not_found',
        `Event ${event_id} is no longer stored, so it cannot be resent. The service keeps a limited number of finished events (--keep-events).`,
      )
    if (endpoint.status === 'disabled') throw endpointDisabled(endpoint, 'nothing was resent')
    const first = firstDelivery(event, endpoint, context)
    const delivery = fresh ? first : { ...first, signed_at: firstSignature(earlier) }
    return { reply: delivery, writes: [put('deliveries', delivery)], events: [] }
  },
} satisfies Operation<ResendDelivery, ReturnType<typeof reads>, Delivery>

/**
 * Returns the timestamp of the first signature.
 * @throws Refusal `validation_failed` when it was not stored.
 */
function firstSignature({ id, attempts: [first] }: ResendDelivery['delivery']): number {
  if (first?.signed_at !== undefined) return first.signed_at
  const why =
    first === undefined
      ? 'has not been attempted yet, so it has no signature header'
      : 'was first attempted by an older version, which did not store its signature header'
  throw invalid([{ path: 'fresh', message: `must be true or omitted: delivery ${id} ${why}` }])
}
