import type { Delivery } from '../model/delivery.ts'
import type { Write } from '../model/records.ts'
import type { WebhookEndpoint } from '../model/webhook-endpoint.ts'
import { unchanged, type Operation } from './operation.ts'

/** Returns the writes that end the pending deliveries of a disabled or removed endpoint; they keep its URL. */
export function retireDeliveries(
  pending: Iterable<Delivery>,
  { url }: Pick<WebhookEndpoint, 'url'>,
): Write[] {
  return Array.from(pending, (delivery) => retirement({ ...retired(delivery), endpoint_url: url }))
}

/** Returns the write that ends a delivery without another attempt. `retires` makes the stream report it. */
export function retirement(delivery: Delivery): Write {
  return { collection: 'deliveries', put: delivery, retires: true }
}

export function retired({ held: _held, offer: _offer, ...delivery }: Delivery): Delivery {
  return { ...delivery, status: 'dead', next_attempt_at: null, dead_reason: 'endpoint_disabled' }
}

interface RetireDelivery {
  delivery_id: string
  endpoint_id: string
}

function reads({ delivery_id, endpoint_id }: RetireDelivery) {
  return {
    delivery: { collection: 'deliveries', id: delivery_id },
    endpoint: { collection: 'endpoints', id: endpoint_id },
  } as const
}

/** Ends a due delivery to a disabled or removed endpoint without sending it (contract section 9). */
export const retireDelivery = {
  reads,
  decide({ delivery, endpoint }) {
    if (delivery?.status !== 'pending' || endpoint?.status === 'enabled') return unchanged(delivery)
    const reply = retired(delivery)
    return { reply, writes: [retirement(reply)], events: [] }
  },
} satisfies Operation<RetireDelivery, ReturnType<typeof reads>, Delivery | undefined>
