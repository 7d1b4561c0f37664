import type { EventType } from './event.ts'
import type { DeliveryFaultKind } from './simulator/fault-kinds.ts'

/** How one attempt ended. Only `succeeded` (a 2xx in time) is a success; the rest name what went wrong, `dropped` on purpose. */
export type AttemptOutcome =
  | 'succeeded'
  | 'bad_status'
  | 'timeout'
  | 'connection_refused'
  | 'connection_reset'
  | 'tls_error'
  | 'dns_error'
  | 'address_refused'
  | 'network_error'
  | 'dropped'

/** What came of sending a delivery once, before it is given its number. */
export interface AttemptResult {
  /** ISO 8601 UTC, when the attempt began. */
  started_at: string
  duration_ms: number
  outcome: AttemptOutcome
  response_status: number | null
  /** The first 4 KiB of what the receiver answered. */
  response_body: string | null
  /** In words, what went wrong and what to do about it. */
  error: string | null
  /** What befell it on purpose, if anything did. */
  faults?: readonly DeliveryFaultKind[]
  /** For how long it was held back on purpose, in milliseconds of the service's clock. */
  held_ms?: number
  /** `t` of its signature header, Unix time in whole seconds; not kept by early versions, and not shown. */
  signed_at?: number
}

export interface Attempt extends AttemptResult {
  number: number
}

/** One event on its way to one endpoint (contract section 9). */
export interface Delivery {
  id: string
  event_id: string
  event_type: EventType | 'ping'
  endpoint_id: string
  external_check_id: string | null
  status: 'pending' | 'delivered' | 'dead'
  attempts: readonly Attempt[]
  next_attempt_at: string | null
  dead_reason: 'exhausted' | 'endpoint_disabled' | null
  /** Its next attempt is held back on purpose, until `next_attempt_at` at the latest. */
  held?: Hold
  /** Of a verbatim resend: `t` of the header that all its attempts repeat, in Unix seconds. Not shown. */
  signed_at?: number
}

/** What is settled about an attempt that was held back when it began. */
export interface Hold {
  faults: readonly DeliveryFaultKind[]
  since: string
  /** It is not sent before this time, even when it has been overtaken. */
  not_before: string
}

/** A delivery as every answer and message shows it (contract section 9). */
export function viewDelivery({ signed_at: _signed, attempts, ...delivery }: Delivery): Delivery {
  return { ...delivery, attempts: attempts.map(viewAttempt) }
}

function viewAttempt({ signed_at: _signed, ...attempt }: Attempt): Attempt {
  return attempt
}

/** One attempt with the delivery that it is of, as the stream tells it (contract section 10). */
export type AttemptMessage = Omit<Delivery, 'attempts'> & { attempt: Attempt }

/**
 * A delivery's attempts, first to last, each as it stood after it: one that was followed by another was pending then, and
 * what was next is known from what came.
 */
export function attemptMessages(delivery: Delivery): AttemptMessage[] {
  const { attempts, ...now } = viewDelivery(delivery)
  return attempts.map((attempt, index) => {
    const next = attempts[index + 1]
    if (next === undefined) return { ...now, attempt }
    const { held: _held, ...then } = now
    return { ...then, status: 'pending', next_attempt_at: next.started_at, dead_reason: null, attempt }
  })
}

/** The signature header of an attempt, as it was sent. */
export interface SentSignature {
  /** The number of the attempt. */
  attempt: number
  signature: string
}
