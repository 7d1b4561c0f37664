import type { Delivery } from '../model/delivery.ts'
import type { StoredEvent } from '../model/event.ts'
import { remove, type Write } from '../model/records.ts'
import { wholeNumbers } from '../model/simulator/settings.ts'
import type { Tables } from './tables/tables.ts'

/** Default number of events kept: hours of a busy restaurant, about 30 MB with their deliveries. */
export const KEPT_EVENTS = wholeNumbers.keepEvents.default

/**
 * Length of the bodies of all kept events, in UTF-16 code units; more where `keep` times `each` is more. Checks of a thousand
 * items have bodies of 200 kB: ten thousand of them would end the process for lack of memory.
 */
const MAX_CHARACTERS = { inAll: 128 * 1024 * 1024, each: 8 * 1024 }

/** Events examined per transaction: more than a transaction adds on average, so that the limits hold. */
const MAX_LOOKS = { afterEvents: 4, otherwise: 2, whileTooLong: 32 }

/**
 * Returns the removals that keep the store within `keep` events and {@link MAX_CHARACTERS}: the oldest events whose
 * deliveries are all finished, with these deliveries. Events with a pending delivery stay, however old they are.
 */
export function createRetention(tables: Tables, keep: number): () => readonly Write[] {
  let last: string | undefined
  let visited = 0
  let size = tables.of('events').records.size
  const most = Math.max(MAX_CHARACTERS.inAll, keep * MAX_CHARACTERS.each)
  const next = (): StoredEvent | undefined => {
    // Events that were skipped may be finished by now, so the walk restarts after as many looks as there are events.
    if (visited++ >= size) {
      last = undefined
      visited = 0
    }
    for (const event of tables.of('events').records.values(last))
      if (event.id !== last) {
        last = event.id
        return event
      }
    last = undefined
    return undefined
  }
  return () => {
    const expired: Write[] = []
    const { records, characters } = tables.of('events')
    const usual = records.size > size ? MAX_LOOKS.afterEvents : MAX_LOOKS.otherwise
    const looks = characters > most ? MAX_LOOKS.whileTooLong : usual
    size = records.size
    let length = characters
    for (let look = 0; (size > keep || length > most) && look < looks; look++) {
      const event = next()
      if (event === undefined) break
      const its = finished(tables.of('deliveries').find('event', event.id))
      if (its === undefined) continue
      expired.push(remove('events', event.id), ...its.map((delivery) => remove('deliveries', delivery.id)))
      size--
      length -= event.body.length
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
