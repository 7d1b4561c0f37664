import type { Delivery } from '../model/delivery.ts'

type Attempted = Promise<Delivery | undefined>

interface Flight {
  /** Not known for a delivery that is attempted out of turn. */
  endpointId: string | undefined
  attempted: Attempted
  slow: boolean
}

/**
 * The attempts in flight, one per delivery at most. One that takes longer than `slowAfterMs` waits for a receiver and
 * costs us nothing more: it leaves the count of `quick` ones, and `onSlow` tells so.
 */
export function createFlights({ slowAfterMs, onSlow }: { slowAfterMs: number; onSlow: () => void }) {
  const flights = new Map<string, Flight>()
  return {
    get: (id: string): Attempted | undefined => flights.get(id)?.attempted,
    ids: () => flights.keys(),
    none: () => flights.size === 0,
    quick: () => count(flights, ({ slow }) => !slow),
    to: (endpointId: string) => count(flights, (flight) => flight.endpointId === endpointId),
    /** Resolves when those that are in flight now have ended, however they do. */
    ended: () => Promise.allSettled(Array.from(flights.values(), ({ attempted }) => attempted)),
    start(id: string, endpointId: string | undefined, attempt: () => Attempted): Attempted {
      const timer = setTimeout(() => {
        flight.slow = true
        onSlow()
      }, slowAfterMs)
      timer.unref()
      const attempted = attempt().finally(() => {
        clearTimeout(timer)
        flights.delete(id)
      })
      const flight: Flight = { endpointId, attempted, slow: false }
      flights.set(id, flight)
      return attempted
    },
  }
}

function count(flights: ReadonlyMap<string, Flight>, counts: (flight: Flight) => boolean): number {
  let counted = 0
  for (const flight of flights.values()) if (counts(flight)) counted += 1
  return counted
}
