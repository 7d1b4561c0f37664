import { put, type ReadOneOf } from '../model/records.ts'
import type { Operation } from './operation.ts'

export interface ReleaseDeliveries {
  delivery_ids: readonly string[]
  /** Also those that had to wait for a time. */
  at_once: boolean
}

type Held = Readonly<Record<string, Extract<ReadOneOf<'deliveries'>, { id: string }>>>

function reads({ delivery_ids }: ReleaseDeliveries): Held {
  return Object.fromEntries(delivery_ids.map((id) => [id, { collection: 'deliveries', id }]))
}

/** What a fault has held back need wait no longer: it has been overtaken, or the fault is gone (contract section 10). */
export const releaseDeliveries = {
  reads,
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
