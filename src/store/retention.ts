import type { Delivery } from '../model/delivery.ts'
import { remove, type Write } from '../model/records.ts'
import { wholeNumbers } from '../model/simulator/settings.ts'
import type { Tables } from './tables/tables.ts'

/** Default number of events kept: hours of a busy restaurant, about 30 MB with their deliveries. */
export const KEPT_EVENTS = wholeNumbers.keepEvents.default

/** Events examined per transaction: more than a transaction adds on average, so that the limit holds. */
const MAX_LOOKS = { afterEvents: 4, otherwise: 2 }

/**
 * Returns the removals that keep the store within `keep` events: the oldest events whose deliveries are all finished, with
 * these deliveries. Events with a pending delivery stay, however old they are.
 */
export function createRetention(tables: Tables, keep: number): () => readonly Write[] {
  let last: string | undefined
  let visited = 0
  let size = tables.of('events').records.size
  const next = (): string | undefined => {
    // Events that were skipped may be finished by now, so the walk restarts after as many looks as there are events.
    if (visited++ >= size) {
      last = undefined
      visited = 0
    }
    for (const { id } of tables.of('events').records.values(last)) if (id !== last) return (last = id)
    return (last = undefined)
  }
  return () => {
    const expired: Write[] = []
    const looks = tables.of('events').records.size > size ? MAX_LOOKS.afterEvents : MAX_LOOKS.otherwise
    size = tables.of('events').records.size
    let left = size - keep
    for (let look = 0; left > 0 && look < looks; look++) {
      const id = next()
      if (id === undefined) break
      const its = finished(tables.of('deliveries').find('event', id))
      if (its === undefined) continue
      expired.push(remove('events', id), ...its.map((delivery) => remove('deliveries', delivery.id)))
      left--
      size--
    }
    return expired
  }
}

/** Returns the deliveries when all are finished, else `undefined`. */
function finished(deliveries: Iterable<Delivery>): readonly Delivery[] | undefined {
  const all: Delivery[] = []
  for (const delivery of deliveries) {
    if (delivery.status === 'pending') return undefined
    all.push(delivery)
  }
  return all
}
