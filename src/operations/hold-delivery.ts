import type { Delivery, Hold } from '../model/delivery.ts'
import { put } from '../model/records.ts'
import { unchanged, type Operation } from './operation.ts'

export interface HoldDelivery {
  delivery_id: string
  faults: Hold['faults']
  /** In milliseconds. */
  delay_ms: number
  /** How much longer it may wait to be overtaken, in milliseconds. */
  reorder_ms: number
}

function reads({ delivery_id }: HoldDelivery) {
  return { delivery: { collection: 'deliveries', id: delivery_id } } as const
}

/** A fault holds the next attempt back (contract section 10). It waits in the queue like a retry, and outlives a crash. */
export const holdDelivery = {
  reads,
  decide({ delivery }, { faults, delay_ms, reorder_ms }, { now }) {
    if (delivery?.status !== 'pending') return unchanged(delivery)
    const at = (ms: number) => new Date(now.getTime() + ms).toISOString()
    const reply: Delivery = {
      ...delivery,
      next_attempt_at: at(delay_ms + reorder_ms),
      held: { faults, since: at(0), not_before: at(delay_ms) },
    }
    return { reply, writes: [put('deliveries', reply)], events: [] }
  },
} satisfies Operation<HoldDelivery, ReturnType<typeof reads>, Delivery | undefined>
