import type { Attempt, AttemptResult, Delivery } from '../model/delivery.ts'
import { put, type Write } from '../model/records.ts'
import { Refusal } from '../model/refusal.ts'
import type { WebhookEndpoint } from '../model/webhook-endpoint.ts'
import { unchanged, type Operation } from './operation.ts'
import { retired, retireDeliveries } from './pending-deliveries.ts'

/** Result of one attempt, and the retry and disabling policy. */
export interface RecordAttempt {
  delivery_id: string
  endpoint_id: string
  /** Number of the attempt, from 1. */
  attempt: number
  /** Generation of the records that the attempt was made from. */
  generation: number
  result: AttemptResult
  /** Backoff from the end of the attempt, in milliseconds; `null` after the last attempt. */
  retry_in_ms: number | null
  /** Number of distinct consecutive failing deliveries that disables the endpoint; 0 never does. */
  disable_after: number
}

function reads({ delivery_id, endpoint_id }: RecordAttempt) {
  return {
    delivery: { collection: 'deliveries', id: delivery_id },
    endpoint: { collection: 'endpoints', id: endpoint_id },
    pending: { collection: 'deliveries', index: 'pending_of', key: endpoint_id },
  } as const
}

/**
 * Records an attempt: the delivery is delivered, retried later, or dead, and the endpoint's failure count changes
 * (contract section 9). An attempt that was made when its endpoint was disabled or deleted is recorded, too. One that is
 * not the delivery's next attempt changes nothing, since another instance made it.
 */
export const recordAttempt = {
  reads,
  decide({ delivery, endpoint, pending }, command, { now, generation }) {
    if (delivery === undefined || command.generation !== generation)
      throw new Refusal(
        'not_found',
        `Delivery ${command.delivery_id} not found, so its attempt cannot be recorded.`,
      )
    const isOpen = delivery.status === 'pending' || delivery.dead_reason === 'endpoint_disabled'
    if (!isOpen || delivery.attempts.length !== command.attempt - 1) return unchanged(delivery)
    const tried = withAttempt(delivery, command, now, endpoint?.url)
    /** The delivery when its endpoint gets no further attempts. */
    const last = tried.status === 'pending' ? retired(tried) : tried
    if (endpoint === undefined || endpoint.status === 'disabled')
      return { reply: last, writes: [put('deliveries', last)], events: [] }
    const after = withFailureCount(endpoint, tried, command.disable_after, now)
    if (after.status === 'enabled') {
      const writes = [put('deliveries', tried)]
      return {
        reply: tried,
        writes: after === endpoint ? writes : [...writes, put('endpoints', after)],
        events: [],
      }
    }
    const others = Array.from(pending).filter(({ id }) => id !== tried.id)
    const writes: Write[] = [
      put('endpoints', after),
      put('deliveries', last),
      ...retireDeliveries(others, endpoint, { keepsOffers: true }),
    ]
    return { reply: last, writes, events: [] }
  },
} satisfies Operation<RecordAttempt, ReturnType<typeof reads>, Delivery>

function withAttempt(
  delivery: Delivery,
  { result, retry_in_ms }: RecordAttempt,
  now: Date,
  url = delivery.endpoint_url,
): Delivery {
  const { id, event_id, event_type, endpoint_id, external_check_id, attempts, signed_at } = delivery
  const isDelivered = result.outcome === 'succeeded'
  const retryInMs = isDelivered ? null : retry_in_ms
  const status = isDelivered ? 'delivered' : retryInMs === null ? 'dead' : 'pending'
  const tried: Delivery = {
    id,
    event_id,
    event_type,
    endpoint_id,
    external_check_id,
    status,
    attempts: [...attempts, numbered(result, attempts.length + 1)],
    next_attempt_at: retryInMs === null ? null : new Date(now.getTime() + retryInMs).toISOString(),
    dead_reason: status === 'dead' ? 'exhausted' : null,
  }
  if (signed_at !== undefined) tried.signed_at = signed_at
  if (url !== undefined) tried.endpoint_url = url
  return tried
}

function numbered(result: AttemptResult, number: number): Attempt {
  const { started_at, duration_ms, outcome, response_status, response_body, error } = result
  const attempt: Attempt = {
    number,
    started_at,
    duration_ms,
    outcome,
    response_status,
    response_body,
    error,
  }
  if (result.response_headers !== undefined) attempt.response_headers = result.response_headers
  if (result.response_headers_cut !== undefined) attempt.response_headers_cut = result.response_headers_cut
  if (result.signed_at !== undefined) attempt.signed_at = result.signed_at
  if (result.faults !== undefined) attempt.faults = result.faults
  if (result.held_ms !== undefined) attempt.held_ms = result.held_ms
  if (result.traceparent !== undefined) attempt.traceparent = result.traceparent
  return attempt
}

/**
 * Updates the failure count of an endpoint. Each delivery counts once, at its first failed attempt. Any success resets
 * the count; pings do not count.
 */
function withFailureCount(
  endpoint: WebhookEndpoint,
  tried: Delivery,
  disableAfter: number,
  now: Date,
): WebhookEndpoint {
  if (tried.event_type === 'ping') return endpoint
  if (tried.status === 'delivered')
    return endpoint.consecutive_failures === 0 ? endpoint : { ...endpoint, consecutive_failures: 0 }
  if (tried.attempts.length > 1) return endpoint
  const consecutive_failures = endpoint.consecutive_failures + 1
  if (disableAfter === 0 || consecutive_failures < disableAfter) return { ...endpoint, consecutive_failures }
  return {
    ...endpoint,
    consecutive_failures,
    status: 'disabled',
    disabled_at: now.toISOString(),
    disabled_reason:
      consecutive_failures === 1
        ? '1 delivery failed'
        : `${consecutive_failures} consecutive deliveries failed`,
  }
}
