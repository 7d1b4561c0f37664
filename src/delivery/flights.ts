import type { Delivery } from '../model/delivery.ts'

type Attempted = Promise<Delivery | undefined>

/**
 * The attempts in flight, one per delivery at most. One that takes longer than `slowAfterMs` waits for a receiver and
 * costs us nothing more: it leaves the count of `quick` ones. `onRoom` tells when there is room for others. Counts are
 * kept, since they are asked for far more often than they change.
 */
export function createFlights({ slowAfterMs, onRoom }: { slowAfterMs: number; onRoom: () => void }) {
  const flights = new Map<string, Attempted>()
  /** Those that wait for the receiver and not for their outcome to be recorded, by endpoint. */
  const sending = new Map<string, number>()
  let quick = 0
  const count = (endpointId: string, change: 1 | -1) => {
    const now = (sending.get(endpointId) ?? 0) + change
    if (now === 0) sending.delete(endpointId)
    else sending.set(endpointId, now)
  }
  /** Ends the sending, once. */
  const sendingOf = (endpointId: string | undefined): (() => void) => {
    let state: 'quick' | 'slow' | 'sent' = 'quick'
    quick += 1
    if (endpointId !== undefined) count(endpointId, 1)
    const timer = setTimeout(() => {
      state = 'slow'
      quick -= 1
      onRoom()
    }, slowAfterMs)
    timer.unref()
    return () => {
      if (state === 'sent') return
      clearTimeout(timer)
      if (state === 'quick') quick -= 1
      state = 'sent'
      if (endpointId !== undefined) count(endpointId, -1)
    }
  }
  const to = (endpointId: string) => sending.get(endpointId) ?? 0
  return {
    get: (id: string): Attempted | undefined => flights.get(id),
    has: (id: string) => flights.has(id),
    none: () => flights.size === 0,
    quick: () => quick,
    to,
    /** The endpoints to which so many are in flight. */
    full: (perEndpoint: number) => ({ has: (endpointId: string) => to(endpointId) >= perEndpoint }),
    /** Resolves when those that are in flight now have ended, however they do. */
    ended: () => Promise.allSettled([...flights.values()]),
    /** `endpointId` is not known for a delivery that is attempted out of turn. */
    start(id: string, endpointId: string | undefined, attempt: (onSent: () => void) => Attempted): Attempted {
      const sent = sendingOf(endpointId)
      const attempted = attempt(() => {
        sent()
        onRoom()
      }).finally(() => {
        sent()
        flights.delete(id)
      })
      flights.set(id, attempted)
      return attempted
    },
  }
}
