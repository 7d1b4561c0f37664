import type { Delivery, Hold } from '../model/delivery.ts'
import { put, type ReadOneOf, type Write } from '../model/records.ts'
import type { WebhookEndpoint } from '../model/webhook-endpoint.ts'
import { type Operation, unchanged } from './operation.ts'

export interface HoldDelivery {
  delivery_id: string
  /** Number of the attempt that is held, from 1. */
  attempt: number
  /** Generation of the records that the fault was planned from. */
  generation: number
  faults: Hold['faults']
  /** In milliseconds. */
  delay_ms: number
  /** Further milliseconds to wait until another delivery overtakes it. */
  reorder_ms: number
}

function readsToHold({ delivery_id }: HoldDelivery) {
  return { delivery: { collection: 'deliveries', id: delivery_id } } as const
}

/**
 * Holds the next attempt of a delivery for a fault (contract section 10). The delivery waits in the queue like a retry
 * and survives a crash. An attempt that another instance has made or held changes nothing, and neither does one of records
 * that were replaced.
 */
export const holdDelivery = {
  reads: readsToHold,
  decide({ delivery }, { attempt, generation, faults, delay_ms, reorder_ms }, context) {
    if (delivery?.status !== 'pending' || delivery.held !== undefined) return unchanged(delivery)
    if (delivery.attempts.length !== attempt - 1 || generation !== context.generation)
      return unchanged(delivery)
    const { now } = context
    const at = (ms: number) => new Date(now.getTime() + ms).toISOString()
    const reply: Delivery = {
      ...delivery,
      next_attempt_at: at(delay_ms + reorder_ms),
      held: { faults, since: at(0), not_before: at(delay_ms) },
    }
    return { reply, writes: [put('deliveries', reply)], events: [] }
  },
} satisfies Operation<HoldDelivery, ReturnType<typeof readsToHold>, Delivery | undefined>

interface ReleaseDeliveries {
  delivery_ids: readonly string[]
  /** True also ends delays; false only ends waiting to be overtaken. */
  at_once: boolean
}

type ReleaseReads = Readonly<Record<string, Extract<ReadOneOf<'deliveries'>, { id: string }>>>

function readsToRelease({ delivery_ids }: ReleaseDeliveries): ReleaseReads {
  return Object.fromEntries(delivery_ids.map((id) => [id, { collection: 'deliveries', id }]))
}

/** Releases held deliveries that were overtaken, or whose fault has ended (contract section 10). */
export const releaseDeliveries = {
  reads: readsToRelease,
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
} satisfies Operation<ReleaseDeliveries, ReleaseReads, undefined>

/**
 * Returns the writes that end the pending deliveries of a disabled or removed endpoint; they keep its URL. With
 * `keepsOffers`, offered attempts are still answered and recorded, as other attempts in flight are.
 */
export function retireDeliveries(
  pending: Iterable<Delivery>,
  { url }: Pick<WebhookEndpoint, 'url'>,
  { keepsOffers }: { keepsOffers: boolean },
): Write[] {
  return Array.from(pending, (delivery) => {
    const offer = keepsOffers && delivery.offer !== undefined && { offer: delivery.offer }
    return retirement({ ...retired(delivery), ...offer, endpoint_url: url })
  })
}

/** Returns the write that ends a delivery without another attempt. `retires` makes the stream report it. */
function retirement(delivery: Delivery): Write {
  return { collection: 'deliveries', put: delivery, retires: true }
}

export function retired({ held: _held, offer: _offer, ...delivery }: Delivery): Delivery {
  return { ...delivery, status: 'dead', next_attempt_at: null, dead_reason: 'endpoint_disabled' }
}

interface RetireDelivery {
  delivery_id: string
  event_id: string
  endpoint_id: string
}

function readsToRetire({ delivery_id, event_id, endpoint_id }: RetireDelivery) {
  return {
    delivery: { collection: 'deliveries', id: delivery_id },
    event: { collection: 'events', id: event_id },
    endpoint: { collection: 'endpoints', id: endpoint_id },
  } as const
}

/**
 * Ends a due delivery without sending it: to a disabled or removed endpoint (contract section 9), or of an event that a
 * repair could not read.
 */
export const retireDelivery = {
  reads: readsToRetire,
  decide({ delivery, event, endpoint }) {
    const canBeSent = endpoint?.status === 'enabled' && event !== undefined
    if (delivery?.status !== 'pending' || canBeSent) return unchanged(delivery)
    const reply = { ...retired(delivery), ...(endpoint && { endpoint_url: endpoint.url }) }
    return { reply, writes: [retirement(reply)], events: [] }
  },
} satisfies Operation<RetireDelivery, ReturnType<typeof readsToRetire>, Delivery | undefined>
