import type { Delivery } from '../model/delivery.ts'
import { unchanged, type Operation } from './operation.ts'
import { retired, retirement } from './retire-deliveries.ts'

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

/** A delivery whose endpoint is disabled or gone when its turn comes: nothing is sent, and it is dead (contract section 9). */
export const retireDelivery = {
  reads,
  decide({ delivery, endpoint }) {
    if (delivery?.status !== 'pending' || endpoint?.status === 'enabled') return unchanged(delivery)
    const reply = retired(delivery)
    return { reply, writes: [retirement(reply)], events: [] }
  },
} satisfies Operation<RetireDelivery, ReturnType<typeof reads>, Delivery | undefined>
