import type { Delivery } from '../model/delivery.ts'
import type { EventType } from '../model/event.ts'
import { formatTime } from '../model/text/time.ts'
import { callUntil } from '../client/limit.ts'
import type { ClientReads } from '../client/reads.ts'
import type { List } from '../client/types.ts'
import type { WebhookEndpointView } from '../model/webhook-endpoint.ts'

/** Deliveries to wait for. */
export interface Wanted {
  type?: EventType | 'ping' | undefined
  /** External id. */
  check?: string | undefined
  endpoint?: string | undefined
  /** `attempted`: in any status, once the receiver got a request. */
  status: Delivery['status'] | 'attempted'
  /** Least number of deliveries; with `exactly`, the exact number. */
  count: number
  exactly: boolean
  none: boolean
}

export type DeliveredVerdict = { ok: true; deliveries: readonly Delivery[] } | Unmet
export interface Unmet {
  ok: false
  code: 'never_came' | 'refused' | 'other_status' | 'too_often' | 'came_anyway'
  message: string
  /** All deliveries that were found, in any status. */
  seen: readonly Delivery[]
}

function matching(seen: ReadonlyMap<string, Delivery>, { status }: Wanted): Delivery[] {
  return [...seen.values()].filter((delivery) =>
    status === 'attempted' ? delivery.attempts.length > 0 : delivery.status === status,
  )
}

/** Returns true when a longer wait cannot change the verdict. */
export function isDecided(seen: ReadonlyMap<string, Delivery>, wanted: Wanted): boolean {
  const came = matching(seen, wanted).length
  if (wanted.none) return came > 0
  return wanted.exactly ? came > wanted.count : came >= wanted.count
}

/** Returns the verdict when the wait is over. */
export function judge(seen: ReadonlyMap<string, Delivery>, wanted: Wanted): DeliveredVerdict {
  const unmet = (code: Unmet['code'], message: string): Unmet => ({
    ok: false,
    code,
    message,
    seen: [...seen.values()],
  })
  const came = matching(seen, wanted)
  const ids = came.map(({ id }) => id).join(', ')
  if (wanted.none && came.length > 0)
    return unmet('came_anyway', `Expected ${inWords(wanted)}, found ${ids}.`)
  if (wanted.exactly && came.length > wanted.count)
    return unmet('too_often', `Expected ${inWords(wanted)}, found ${came.length}: ${ids}.`)
  if (wanted.none || came.length >= wanted.count) return { ok: true, deliveries: came }
  const others = [...seen.values()].filter((one) => !came.includes(one))
  return unmet(...missing(came, others, wanted))
}

function missing(
  came: readonly Delivery[],
  others: readonly Delivery[],
  wanted: Wanted,
): [Unmet['code'], message: string] {
  const start = `Expected ${inWords(wanted)}${came.length === 0 ? '' : `, found ${came.length}`}`
  const failed = others.find(({ attempts }) => (attempts.at(-1)?.error ?? null) !== null)
  if (wanted.status === 'delivered' && failed !== undefined)
    return ['refused', `${start}; ${failure(failed)}`]
  const [other] = others
  if (other !== undefined) return ['other_status', `${start}; ${other.id} is ${other.status}.`]
  return ['never_came', `${start}${came.length === 0 ? '; none arrived' : ''}.`]
}

/** `dlv_… failed at attempt 7: The receiver answered 500. No further attempt follows.` */
function failure(delivery: Delivery): string {
  const { id, attempts } = delivery
  const reason = (attempts.at(-1)?.error ?? '').replace(/\.$/, '')
  return `${id} failed at attempt ${attempts.length}: ${reason}. ${nextOf(delivery)}`
}

/** `The next attempt is at 2026-11-21 18:01:00 UTC.` */
function nextOf({ next_attempt_at, dead_reason }: Delivery): string {
  if (next_attempt_at !== null) return `The next attempt is at ${formatTime(next_attempt_at)} UTC.`
  return `No further attempt follows${dead_reason === 'endpoint_disabled' ? ': the endpoint is disabled or deleted' : ''}.`
}

/** `2 delivered check.closed for check dinner`, `no dead deliveries`. */
export function inWords({ type, check, endpoint, status, count, exactly, none }: Wanted): string {
  const number = none ? 'no' : `${exactly ? 'exactly ' : ''}${count}`
  const about = check === undefined ? '' : ` for check ${check}`
  const to = endpoint === undefined ? '' : ` to ${endpoint}`
  return `${number} ${whatOf({ type, status, isOne: !none && count === 1 })}${about}${to}`
}

function whatOf({ type, status, isOne }: Pick<Wanted, 'type' | 'status'> & { isOne: boolean }): string {
  const word = status === 'attempted' ? '' : `${status} `
  if (type !== undefined) return `${word}${type}`
  return `${status === 'delivered' ? 'successful ' : word}${isOne ? 'delivery' : 'deliveries'}`
}

/** Deliveries or events that an error shows at most. */
export const MOST_SHOWN = 10

type MissingReads = Pick<ClientReads, 'deliveries' | 'events' | 'request'>

/** Returns lines for an error message: why a delivery may be missing, and what came instead. */
export async function explainMissing(client: MissingReads, wanted: Wanted): Promise<string[]> {
  const [reason, instead] = await Promise.all([reasonFor(client, wanted), latestDeliveryLines(client)])
  return [...reason, ...instead]
}

async function reasonFor({ events, request }: MissingReads, { type, check }: Wanted): Promise<string[]> {
  const query = { type, external_check_id: check, limit: 1 }
  const { data: happened } = await callUntil((options) => events.list(query, options))
  // Not /v1/webhook-endpoints, whose faults and rate limits would hide the reason.
  const path = '/_sim/webhook-endpoints?limit=100'
  const { json } = await callUntil((options) => request('GET', path, undefined, options))
  const { data: registered, next_cursor } = json as List<WebhookEndpointView>
  const about = check === undefined ? '' : ` for check ${check}`
  if (happened.length === 0) return [`No ${type ?? 'event'}${about} has occurred.`]
  // Every endpoint takes pings, which no endpoint registers for.
  const takers = registered.filter(
    ({ event_types }) => type === 'ping' || event_types.some((one) => type === undefined || one === type),
  )
  if (next_cursor !== null || takers.some(({ status }) => status === 'enabled')) return []
  const [disabled] = takers
  const why = disabled === undefined ? '' : `: ${disabled.id} is disabled`
  return [
    `${type ?? 'An event'}${about} has occurred, but no enabled webhook endpoint is registered for it${why}.`,
  ]
}

async function latestDeliveryLines({ deliveries }: MissingReads): Promise<string[]> {
  const { data, next_cursor } = await callUntil((options) => deliveries.list({ limit: MOST_SHOWN }, options))
  if (data.length === 0) return ['No delivery was sent.']
  const heading = next_cursor === null ? 'All deliveries:' : `The last ${MOST_SHOWN} deliveries:`
  return [heading, ...data.toReversed().map(lineOf)]
}

/**
 * Formats a delivery in one line: `dlv_… check.created for check table-12, pending: The receiver answered 500. …`.
 */
export function lineOf({ id, event_type, external_check_id, status, attempts }: Delivery): string {
  const error = attempts.at(-1)?.error ?? null
  const about = external_check_id === null ? '' : ` for check ${external_check_id}`
  const failed = error === null ? '' : ` after attempt ${attempts.length}: ${error}`
  return `  ${id} ${event_type}${about}, ${status}${failed}`
}

/** Adds what follows: `The next attempt is at 2026-11-21 18:01:00 UTC.` */
export function lineWithNext(delivery: Delivery): string {
  const { status, attempts } = delivery
  const hasFailed = status !== 'delivered' && (attempts.at(-1)?.error ?? null) !== null
  const isUnanswered = status === 'pending' && attempts.length === 0
  return `${lineOf(delivery)}${isUnanswered ? ', no response yet' : ''}${hasFailed ? ` ${nextOf(delivery)}` : ''}`
}
