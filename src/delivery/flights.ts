import type { Delivery } from '../model/delivery.ts'

type Attempted = Promise<Delivery | undefined>

interface Flight {
  /** Not known for a delivery that is attempted out of turn. */
  endpointId: string | undefined
  attempted: Attempted
  /** Waits for the receiver; afterwards, only for the outcome to be recorded. */
  sending: boolean
  slow: boolean
}

/**
 * The attempts in flight, one per delivery at most. One that takes longer than `slowAfterMs` waits for a receiver and
 * costs us nothing more: it leaves the count of `quick` ones. `onRoom` tells when there is room for others.
 */
export function createFlights({ slowAfterMs, onRoom }: { slowAfterMs: number; onRoom: () => void }) {
  const flights = new Map<string, Flight>()
  return {
    get: (id: string): Attempted | undefined => flights.get(id)?.attempted,
    ids: () => flights.keys(),
    none: () => flights.size === 0,
    quick: () => count(flights, ({ sending, slow }) => sending && !slow),
    to: (endpointId: string) =>
      count(flights, (flight) => flight.sending && flight.endpointId === endpointId),
    /** The endpoints to which so many are in flight. */
    full(perEndpoint: number): Set<string> {
      const counts = new Map<string, number>()
      for (const { endpointId, sending } of flights.values())
        if (sending && endpointId !== undefined) counts.set(endpointId, (counts.get(endpointId) ?? 0) + 1)
      return new Set([...counts].filter(([, count]) => count >= perEndpoint).map(([id]) => id))
    },
    /** Resolves when those that are in flight now have ended, however they do. */
    ended: () => Promise.allSettled(Array.from(flights.values(), ({ attempted }) => attempted)),
    start(id: string, endpointId: string | undefined, attempt: (onSent: () => void) => Attempted): Attempted {
      const timer = setTimeout(() => {
        flight.slow = true
        onRoom()
      }, slowAfterMs)
      timer.unref()
      const flight: Flight = { endpointId, attempted: Promise.resolve(undefined), sending: true, slow: false }
      flights.set(id, flight)
      flight.attempted = attempt(() => {
        flight.sending = false
        onRoom()
      }).finally(() => {
        clearTimeout(timer)
        flights.delete(id)
      })
      return flight.attempted
    },
  }
}

function count(flights: ReadonlyMap<string, Flight>, counts: (flight: Flight) => boolean): number {
  let counted = 0
  for (const flight of flights.values()) if (counts(flight)) counted += 1
  return counted
}
