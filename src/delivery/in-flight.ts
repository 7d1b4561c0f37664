import type { Delivery } from '../model/delivery.ts'
import { timers } from '../timers.ts'

type Attempted = Promise<Delivery | undefined>

export interface InFlightLimits {
  /** Attempts in flight to one endpoint (contract section 9). */
  perEndpoint: number
  /** Attempts in flight in all, without those that have been for longer than `slowAfterMs`. */
  inAll: number
  /** A receiver that takes longer than this many milliseconds takes no one else's place. */
  slowAfterMs: number
}

/** Attempts that wait for the receiver of one endpoint, and not for their outcome to be recorded. */
interface Sending {
  quick: number
  slow: number
}

/**
 * The attempts in flight, one per delivery at most. One that takes longer than `slowAfterMs` waits for a receiver and
 * costs us nothing more: it leaves the count of `quick` ones. For endpoints with a slow one none is started when they have
 * half of these places, so that the others need not wait until it turns out that the next ones are slow as well. `onRoom`
 * tells when there is room for others. Counts are kept, since they are asked for far more often than they change.
 */
export function createInFlight(
  { perEndpoint, inAll, slowAfterMs }: InFlightLimits,
  { onCapacity }: { onCapacity: () => void },
) {
  const attempts = new Map<string, { attempted: Attempted; endpointId: string | undefined }>()
  const sending = new Map<string, Sending>()
  let quick = 0
  const count = (endpointId: string | undefined, kind: keyof Sending, change: 1 | -1) => {
    if (kind === 'quick') quick += change
    if (endpointId === undefined) return
    const now = sending.get(endpointId) ?? { quick: 0, slow: 0 }
    now[kind] += change
    if (now.quick + now.slow === 0) sending.delete(endpointId)
    else sending.set(endpointId, now)
  }
  /** Ends the sending, and tells whether this call did. */
  const countSending = (endpointId: string | undefined): (() => boolean) => {
    let state: keyof Sending | 'sent' = 'quick'
    count(endpointId, 'quick', 1)
    const timer = timers.setTimeout(() => {
      state = 'slow'
      count(endpointId, 'slow', 1)
      count(endpointId, 'quick', -1)
      onCapacity()
    }, slowAfterMs)
    timer.unref()
    return () => {
      if (state === 'sent') return false
      timers.clearTimeout(timer)
      count(endpointId, state, -1)
      state = 'sent'
      return true
    }
  }
  const countTo = (endpointId: string) => {
    const { quick = 0, slow = 0 } = sending.get(endpointId) ?? {}
    return quick + slow
  }
  const isSlow = (endpointId: string) => (sending.get(endpointId)?.slow ?? 0) > 0
  const capacityForSlow = () => {
    let taken = 0
    for (const { quick, slow } of sending.values()) if (slow > 0) taken += quick
    return Math.ceil(inAll / 2) - taken
  }
  return {
    get: (id: string): Attempted | undefined => attempts.get(id)?.attempted,
    has: (id: string) => attempts.has(id),
    /** The ids of the deliveries, with their endpoint where that is known. */
    all: () => Array.from(attempts, ([id, { endpointId }]) => [id, endpointId] as const),
    countTo,
    /** How many more may be started. */
    capacity: () => inAll - quick,
    /** The endpoints for which none may be started now. */
    fullEndpoints() {
      const slowAreFull = capacityForSlow() <= 0
      return {
        has: (endpointId: string) =>
          countTo(endpointId) >= perEndpoint || (slowAreFull && isSlow(endpointId)),
      }
    },
    /** Leaves out what is above the share of slow endpoints, and keeps the first of theirs. */
    limitSlow<D extends Pick<Delivery, 'endpoint_id'>>(inTurn: readonly D[]): D[] {
      let left = capacityForSlow()
      return inTurn.filter(({ endpoint_id }) => !isSlow(endpoint_id) || left-- > 0)
    },
    /** Resolves when those that are in flight now have ended, however they do. */
    ended: () => Promise.allSettled(Array.from(attempts.values(), ({ attempted }) => attempted)),
    /** `endpointId` is not known for a delivery that is attempted out of turn. */
    start(id: string, endpointId: string | undefined, attempt: (onSent: () => void) => Attempted): Attempted {
      const sent = countSending(endpointId)
      const attempted = attempt(() => {
        if (sent()) onCapacity()
      }).finally(() => {
        sent()
        attempts.delete(id)
      })
      attempts.set(id, { attempted, endpointId })
      return attempted
    },
  }
}
