import type { Delivery, Hold } from '../model/delivery.ts'
import { put, type ReadOneOf } from '../model/records.ts'
import { unchanged, type Operation } from './operation.ts'

export interface HoldDelivery {
  delivery_id: string
  /** Number of the attempt that is held, from 1. */
  attempt: number
  faults: Hold['faults']
  /** In milliseconds. */
  delay_ms: number
  /** Further milliseconds to wait until another delivery overtakes it. */
  reorder_ms: number
}

function readsOne({ delivery_id }: HoldDelivery) {
  return { delivery: { collection: 'deliveries', id: delivery_id } } as const
}

/**
 * Holds the next attempt of a delivery for a fault (contract section 10). The delivery waits in the queue like a retry
 * and survives a crash. An attempt that another instance has made or held changes nothing.
 */
export const holdDelivery = {
  reads: readsOne,
  decide({ delivery }, { attempt, faults, delay_ms, reorder_ms }, { now }) {
    if (delivery?.status !== 'pending' || delivery.held !== undefined) return unchanged(delivery)
    if (delivery.attempts.length !== attempt - 1) return unchanged(delivery)
    const at = (ms: number) => new Date(now.getTime() + ms).toISOString()
    const reply: Delivery = {
      ...delivery,
      next_attempt_at: at(delay_ms + reorder_ms),
      held: { faults, since: at(0), not_before: at(delay_ms) },
    }
    return { reply, writes: [put('deliveries', reply)], events: [] }
  },
} satisfies Operation<HoldDelivery, ReturnType<typeof readsOne>, Delivery | undefined>

export interface ReleaseDeliveries {
  delivery_ids: readonly string[]
  /** True also ends delays; false only ends waiting to be overtaken. */
  at_once: boolean
}

type Held = Readonly<Record<string, Extract<ReadOneOf<'deliveries'>, { id: string }>>>

function readsMany({ delivery_ids }: ReleaseDeliveries): Held {
  return Object.fromEntries(delivery_ids.map((id) => [id, { collection: 'deliveries', id }]))
}

/** Releases held deliveries that were overtaken, or whose fault has ended (contract section 10). */
export const releaseDeliveries = {
  reads: readsMany,
  decide(records, { delivery_ids, at_once }, { now }) {
    const time = now.toISOString()
    const writes = delivery_ids.flatMap((id) => {
      const delivery = records[id]
      if (delivery?.status !== 'pending' || delivery.held === undefined) return []
      const { not_before } = delivery.held
      return [
        put('deliveries', { ...delivery, next_attempt_at: at_once || not_before < time ? time : not_before }),
      ]
    })
    return { reply: undefined, writes, events: [] }
  },
} satisfies Operation<ReleaseDeliveries, Held, undefined>
