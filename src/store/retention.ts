import type { Delivery } from '../model/delivery.ts'
import { remove, type Write } from '../model/records.ts'
import { wholeNumbers } from '../model/settings.ts'
import type { Tables } from './tables/tables.ts'

/** How many events are kept unless said otherwise: hours of a busy restaurant, some 30 MB with their deliveries. */
export const KEPT_EVENTS = wholeNumbers.keepEvents.default

/**
 * Events looked at per transaction: more than one adds on average, so that the limit is held, and few enough to cost
 * nothing; fewer when it added none.
 */
const MAX_LOOKS = { afterEvents: 4, otherwise: 2 }

/**
 * What leaves so that history stays within its limit: the oldest events whose deliveries are all finished, with these
 * deliveries. An event that is still on its way somewhere stays, however old it is.
 */
export function createRetention(tables: Tables, keep: number): () => readonly Write[] {
  const events = () => tables.of('events').records
  let last: string | undefined
  let visited = 0
  let size = events().size()
  const next = (): string | undefined => {
    // What had to stay when it was passed may be finished by now, so the walk begins anew from time to time.
    if (visited++ >= keep) {
      last = undefined
      visited = 0
    }
    for (const { id } of events().from(last)) if (id !== last) return (last = id)
    return (last = undefined)
  }
  return () => {
    const leaving: Write[] = []
    const looks = events().size() > size ? MAX_LOOKS.afterEvents : MAX_LOOKS.otherwise
    size = events().size()
    let left = size - keep
    for (let look = 0; left > 0 && look < looks; look++) {
      const id = next()
      if (id === undefined) break
      const its = finished(tables.of('deliveries').find('event', id))
      if (its === undefined) continue
      leaving.push(remove('events', id), ...its.map((delivery) => remove('deliveries', delivery.id)))
      left--
      size--
    }
    return leaving
  }
}

/** Deliveries that are all finished; it looks no further than the first that is not. */
function finished(deliveries: Iterable<Delivery>): readonly Delivery[] | undefined {
  const all: Delivery[] = []
  for (const delivery of deliveries) {
    if (delivery.status === 'pending') return undefined
    all.push(delivery)
  }
  return all
}
