import type { Reads } from '../client/reads.ts'
import type { Delivery } from '../model/delivery.ts'
import type { Wanted } from './judge.ts'

/** Who did not get what was expected wants to know no more than this. */
const MOST_SHOWN = 10

type Asked = Pick<Reads, 'deliveries' | 'endpoints' | 'events'>

/** Why a delivery may not have come, and what came instead: lines for the message of an error. */
export async function circumstances(client: Asked, wanted: Wanted): Promise<string[]> {
  const [reason, instead] = await Promise.all([reasonFor(client, wanted), deliveriesOf(client)])
  return [...reason, ...instead]
}

async function reasonFor({ events, endpoints }: Asked, { type, check }: Wanted): Promise<string[]> {
  const { data: happened } = await events.list({ type, external_check_id: check, limit: 1 })
  const { data: registered } = await endpoints.list({ limit: 100 })
  const about = check === undefined ? '' : ` about ${check}`
  const what = `${type ?? 'event'}${about}`
  if (happened.length === 0) return [`No ${what} has happened.`]
  const takers = registered.filter(
    ({ event_types, status }) =>
      status === 'enabled' && event_types.some((one) => type === undefined || one === type),
  )
  return takers.length > 0 ? [] : [`There was ${what}, but no endpoint is there to take it.`]
}

async function deliveriesOf({ deliveries }: Asked): Promise<string[]> {
  const { data, next_cursor } = await deliveries.list({ limit: MOST_SHOWN })
  if (data.length === 0) return ['Nothing was sent to anybody.']
  const heading = next_cursor === null ? 'All that was sent:' : `The last ${MOST_SHOWN} that were sent:`
  return [heading, ...data.toReversed().map(lineOf)]
}

function lineOf({ event_type, external_check_id, status, attempts }: Delivery): string {
  const error = attempts.at(-1)?.error ?? null
  const about = external_check_id === null ? '' : ` about ${external_check_id}`
  return `  ${event_type}${about}, ${status}${error === null ? '' : `: ${error}`}`
}
