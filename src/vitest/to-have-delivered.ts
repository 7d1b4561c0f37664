import type { Simulator } from '../library/create-simulator.ts'
import type { Delivery } from '../model/delivery.ts'
import type { EventType } from '../model/event.ts'
import { requireKnownOptions, requireOneOf } from '../model/simulator/settings.ts'
import { explainMissing, lineOf, inWords, type Wanted } from '../assertions/delivered-verdict.ts'
import { eventTypesAndPing, NotDelivered, wantedOf, type DeliveriesWanted } from '../assertions/delivered.ts'
import { deliveriesAbout } from '../assertions/wait.ts'
import { failed, passed, requireSimulator, type Outcome } from './matchers.ts'

/** Selects the delivery, beside its type. */
export interface DeliveredOptions extends Omit<DeliveriesWanted, 'type' | 'count'> {
  /**
   * Exact number of deliveries, once nothing is on its way.
   * @default undefined, one or more
   */
  times?: number
}

/** Deliveries that a failure shows at most. */
const MOST_SHOWN = 10

/**
 * With `.not`, and with `times` once as many have come, the matcher waits only until no attempt is due or in flight.
 */
export async function toHaveDelivered(
  this: { isNot?: boolean },
  simulator: Simulator,
  type: EventType | 'ping',
  { times, ...options }: DeliveredOptions = {},
): Promise<Outcome> {
  requireSimulator('toHaveDelivered', simulator, 'deliveries', 'idle')
  requireOneOf('event type', type, eventTypesAndPing)
  requireKnownOptions(options, ['check', 'endpoint', 'status', 'times', 'timeout', 'signal'])
  const wanted = { ...wantedOf({ ...options, type }), count: times ?? 1, exactly: times !== undefined }
  if (this.isNot !== true && wanted.count > 0)
    try {
      const came = await simulator.deliveries.waitFor({ ...options, type, count: wanted.count })
      if (times === undefined) return unwanted(wanted, came)
    } catch (error) {
      if (!(error instanceof NotDelivered)) throw error
      const came = error.seen.filter(({ status }) => status === wanted.status)
      const instead = error.seen.length > 0 ? [] : await explainMissing(simulator, wanted)
      const found = foundOf(wanted, came, error.seen, instead)
      return failed({ ...found, lines: [...found.lines, ...causeOf(error)] })
    }
  await simulator.idle(options)
  const seen = (await deliveriesAbout(simulator, wanted)).reverse()
  const came = seen.filter(({ status }) => status === wanted.status)
  const isMet = times === undefined ? came.length > 0 : came.length === times
  return isMet ? unwanted(wanted, came) : failed(foundOf(wanted, came, seen))
}

/** Formats a handler's error with its stack: an outcome has no field for a cause. */
function causeOf({ cause }: NotDelivered): string[] {
  return cause instanceof Error ? [`Caused by: ${cause.stack ?? cause.message}`] : []
}

/** The wanted deliveries have come: a failure with `.not`. */
function unwanted(wanted: Wanted, came: readonly Delivery[]): Outcome {
  const expected = wanted.exactly ? `not ${inWords(wanted)}` : inWords({ ...wanted, none: true })
  return passed({ ...foundOf(wanted, came, []), expected })
}

/** Formats the expectation, the result, and one line per delivery; without deliveries, what came instead. */
function foundOf(
  wanted: Wanted,
  came: readonly Delivery[],
  seen: readonly Delivery[],
  instead: readonly string[] = [],
) {
  const shown = (seen.length > 0 ? seen : came).slice(0, MOST_SHOWN)
  const got = came.length === 0 && shown.length === 0 ? 'none' : countOf(came, seen, wanted)
  const expected = Array.from({ length: wanted.count }, () => briefOf(wanted))
  const actual = (seen.length > 0 ? seen : came).map(({ event_type, status }) =>
    briefOf({ type: event_type, check: wanted.check, status }),
  )
  const lines = shown.length > 0 ? shown.map(lineOf) : instead
  return { expected: inWords(wanted), got, lines, diff: { actual, expected } }
}

function countOf(came: readonly Delivery[], seen: readonly Delivery[], { status }: Wanted): string {
  const others = seen.filter((delivery) => delivery.status !== status).map((delivery) => delivery.status)
  const rest = others.length === 0 ? '' : `, and ${others.length} ${[...new Set(others)].join(' or ')}`
  return `${came.length} ${status}${rest}`
}

/** Fields of a delivery in a diff. */
function briefOf({ type, check, status }: Pick<Wanted, 'type' | 'check' | 'status'>): string {
  return `${status} ${type ?? 'event'}${check === undefined ? '' : ` for check ${check}`}`
}
