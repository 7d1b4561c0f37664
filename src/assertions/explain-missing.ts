import type { Reads } from '../client/reads.ts'
import type { Delivery } from '../model/delivery.ts'
import type { Wanted } from './delivered-verdict.ts'

/** Who did not get what was expected wants to know no more than this. */
const MOST_SHOWN = 10

type Asked = Pick<Reads, 'deliveries' | 'endpoints' | 'events'>

/** Why a delivery may not have come, and what came instead: lines for the message of an error. */
export async function explainMissing(client: Asked, wanted: Wanted): Promise<string[]> {
  const [reason, instead] = await Promise.all([reasonFor(client, wanted), deliveriesOf(client)])
  return [...reason, ...instead]
}

async function reasonFor({ events, endpoints }: Asked, { type, check }: Wanted): Promise<string[]> {
  const { data: happened } = await events.list({ type, external_check_id: check, limit: 1 })
  const { data: registered } = await endpoints.list({ limit: 100 })
  const about = check === undefined ? '' : ` for check ${check}`
  const what = `${type ?? 'event'}${about}`
  if (happened.length === 0) return [`No ${what} has happened.`]
  const takers = registered.filter(
    ({ event_types, status }) =>
      status === 'enabled' && event_types.some((one) => type === undefined || one === type),
  )
  return takers.length > 0
    ? []
    : [`${what} has happened, but no enabled webhook endpoint is registered for it.`]
}

async function deliveriesOf({ deliveries }: Asked): Promise<string[]> {
  const { data, next_cursor } = await deliveries.list({ limit: MOST_SHOWN })
  if (data.length === 0) return ['No delivery was sent.']
  const heading = next_cursor === null ? 'All deliveries:' : `The last ${MOST_SHOWN} deliveries:`
  return [heading, ...data.toReversed().map(lineOf)]
}

/** A delivery in one line: `dlv_… check.created for check table-12, pending: The receiver answered 500. …`. */
export function lineOf({ id, event_type, external_check_id, status, attempts }: Delivery): string {
  const error = attempts.at(-1)?.error ?? null
  const about = external_check_id === null ? '' : ` for check ${external_check_id}`
  const failed = error === null ? '' : ` after attempt ${attempts.length}: ${error}`
  return `  ${id} ${event_type}${about}, ${status}${failed}`
}
