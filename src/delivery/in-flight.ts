import type { Delivery } from '../model/delivery.ts'
import { timers } from '../timers.ts'

type Attempted = Promise<Delivery | undefined>

type Queued = Pick<Delivery, 'endpoint_id'>

export interface InFlightLimits {
  /** Attempts in flight to one endpoint (contract section 9). */
  perEndpoint: number
  /** Attempts in flight to all endpoints, without those older than `slowAfterMs`. */
  inAll: number
  /** Milliseconds after which an attempt is slow and no longer counts towards `inAll`. */
  slowAfterMs: number
}

/** Attempts that wait for the receiver of one endpoint; those being recorded are not counted. */
interface SendingCounts {
  quick: number
  slow: number
}

/** Most endpoints in `lastChosen`. Above it, those without a due delivery are removed. */
const MOST_REMEMBERED = 1_000

/**
 * Attempts in flight, at most one per delivery. An attempt is slow after `slowAfterMs` and then no longer counts towards
 * `inAll`, since waiting for a receiver costs nothing. Endpoints with a slow attempt share half of `inAll`, so that further
 * slow receivers do not delay the other endpoints. `onCapacity` is called when further attempts may start. Counts are
 * updated with each change, because they are read far more often than they change.
 */
export function createInFlight(
  { perEndpoint, inAll, slowAfterMs }: InFlightLimits,
  { onCapacity }: { onCapacity: () => void },
) {
  const attempts = new Map<string, { attempted: Attempted; endpointId: string | undefined }>()
  const sending = new Map<string, SendingCounts>()
  const lastChosen = new Map<string, number>()
  let choices = 0
  /** Attempts to all endpoints that wait for a response and are not slow. */
  let quickInAll = 0
  const sendingTo = (endpointId: string): SendingCounts => sending.get(endpointId) ?? { quick: 0, slow: 0 }
  const count = (endpointId: string | undefined, kind: keyof SendingCounts, change: 1 | -1) => {
    if (kind === 'quick') quickInAll += change
    if (endpointId === undefined) return
    const now = sendingTo(endpointId)
    now[kind] += change
    if (now.quick + now.slow === 0) sending.delete(endpointId)
    else sending.set(endpointId, now)
  }
  /** Counts an attempt as sending. The result ends that; it returns `false` when it was called before. */
  const countSending = (endpointId: string | undefined): (() => boolean) => {
    let state: keyof SendingCounts | 'sent' = 'quick'
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
  const capacityForSlow = () => {
    let taken = 0
    for (const { quick, slow } of sending.values()) if (slow > 0) taken += quick
    return Math.ceil(inAll / 2) - taken
  }
  return {
    get: (id: string): Attempted | undefined => attempts.get(id)?.attempted,
    has: (id: string) => attempts.has(id),
    /** Lists the delivery ids, with the endpoint where it is known. */
    all: () => Array.from(attempts, ([id, { endpointId }]) => [id, endpointId] as const),
    /** Returns true when an attempt to the endpoint has no response `slowAfterMs` after its start. */
    isSlow: (endpointId: string) => sendingTo(endpointId).slow > 0,
    /** Returns a test for the endpoints to which no attempt may start now. */
    withoutCapacity(): (endpointId: string) => boolean {
      const slowAreFull = capacityForSlow() <= 0
      return (endpointId) => {
        const now = sendingTo(endpointId)
        return now.quick + now.slow >= perEndpoint || (slowAreFull && now.slow > 0)
      }
    },
    /**
     * Chooses the deliveries that may start now, at most `most`. Fair queue: round robin over the endpoints, the endpoint
     * chosen longest ago first.
     */
    choose<D extends Queued>(due: readonly D[], most: number): readonly D[] {
      const queues = new Map<string, { place: number; length: number }>()
      let leftForSlow = capacityForSlow()
      const chosen = due
        .map((delivery) => {
          const { endpoint_id } = delivery
          const queue = queues.get(endpoint_id) ?? { place: queues.size, length: 0 }
          queues.set(endpoint_id, queue)
          const last = lastChosen.get(endpoint_id) ?? 0
          return { delivery, round: queue.length++, place: queue.place, last, now: sendingTo(endpoint_id) }
        })
        .filter(({ round, now }) => now.quick + now.slow + round < perEndpoint)
        .sort((one, other) => one.round - other.round || one.last - other.last || one.place - other.place)
        .filter(({ now }) => now.slow === 0 || leftForSlow-- > 0)
        .slice(0, Math.max(0, Math.min(most, inAll - quickInAll)))
        .map(({ delivery }) => delivery)
      for (const { endpoint_id } of chosen) lastChosen.set(endpoint_id, ++choices)
      // Temporary endpoints, such as those of `listen`, come and go.
      if (lastChosen.size > MOST_REMEMBERED)
        for (const id of lastChosen.keys()) if (!queues.has(id)) lastChosen.delete(id)
      return chosen
    },
    /** Resolves when all attempts that are in flight now have settled. */
    ended: () => Promise.allSettled(Array.from(attempts.values(), ({ attempted }) => attempted)),
    /** Starts an attempt. `endpointId` is unknown for a delivery that bypasses the queue. */
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
