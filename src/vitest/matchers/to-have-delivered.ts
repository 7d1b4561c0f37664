import type { Simulator } from '../../library/create-simulator.ts'
import { NotDelivered, wantedOf, type DeliveriesWanted } from '../../verdicts/delivered.ts'
import type { Delivery } from '../../model/delivery.ts'
import type { EventType } from '../../model/event.ts'
import { allOf } from '../../verdicts/all-of.ts'
import { inWords } from '../../verdicts/judge.ts'
import { failed, passed, type Outcome } from './outcome.ts'

/** What a delivery must be like beside its type. */
export interface DeliveredOptions extends Omit<DeliveriesWanted, 'type' | 'count'> {
  /** So many and no more, once nothing is on its way; without it, one or more. */
  times?: number
}

/**
 * With `.not` nothing is waited for but that no attempt is due or under way, and so it is with `times`, when as many have
 * come: no time has to pass for either.
 */
export async function toHaveDelivered(
  this: { isNot?: boolean },
  simulator: Simulator,
  type: EventType | 'ping',
  { times, ...options }: DeliveredOptions = {},
): Promise<Outcome> {
  const wanted = { ...options, type, count: times ?? 1 }
  const what = inWords({ ...wantedOf(wanted), exactly: times !== undefined })
  const unwanted = (came: readonly Delivery[]) => passed(`Did not expect ${what}, found ${idsOf(came)}.`)
  if (this.isNot !== true && wanted.count > 0)
    try {
      const came = await simulator.deliveries.waitFor(wanted)
      if (times === undefined) return unwanted(came)
    } catch (error) {
      if (error instanceof NotDelivered) return failed(error.message)
      throw error
    }
  await simulator.idle()
  const came = await deliveriesLike(simulator, wanted)
  if (times === undefined ? came.length > 0 : came.length === times) return unwanted(came)
  const these = came.length === 0 ? '' : `: ${idsOf(came)}`
  return failed(`Expected ${what}, found ${came.length}${these}.`)
}

function idsOf(deliveries: readonly Delivery[]): string {
  return deliveries.map(({ id }) => id).join(', ')
}

async function deliveriesLike({ deliveries }: Simulator, asked: DeliveriesWanted): Promise<Delivery[]> {
  const { type, check, endpoint, status } = wantedOf(asked)
  const filter = { type, external_check_id: check, endpoint_id: endpoint, status }
  const found: Delivery[] = []
  for await (const delivery of allOf(deliveries.list, filter)) found.unshift(delivery)
  return found
}
