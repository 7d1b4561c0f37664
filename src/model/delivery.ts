import type { EventType } from './event.ts'
import type { DeliveryFaultKind } from './simulator/fault-kinds.ts'

/** Outcomes of one attempt. Only `succeeded` (a 2xx in time) is a success; `dropped` is an injected fault. */
export const attemptOutcomes = [
  'succeeded',
  'bad_status',
  'timeout',
  'connection_refused',
  'connection_reset',
  'tls_error',
  'dns_error',
  'address_refused',
  'network_error',
  'dropped',
] as const
export type AttemptOutcome = (typeof attemptOutcomes)[number]

/** A header of an HTTP message, as in HAR. */
export interface HttpHeader {
  name: string
  value: string
}

/** Result of one attempt, before the attempt gets its number. */
export interface AttemptResult {
  /** Start of the attempt, ISO 8601 UTC. */
  started_at: string
  duration_ms: number
  outcome: AttemptOutcome
  response_status: number | null
  /**
   * The headers of the response as received: in their order, with repetitions. At most 100 headers and 4 KiB, where the last
   * value may be cut. Absent without a response, and in attempts of early versions.
   */
  response_headers?: readonly HttpHeader[]
  /** True when the response had more than `response_headers`; else absent. */
  response_headers_cut?: true
  /** The first 4 KiB of the response body. */
  response_body: string | null
  /** The problem and its solution, as text. */
  error: string | null
  /** Injected faults; absent without any. */
  faults?: readonly DeliveryFaultKind[]
  /** Milliseconds of the service's clock that a fault held the attempt back. */
  held_ms?: number
  /** The header `traceparent` of the attempt; absent without one. */
  traceparent?: string
  /**
   * `t` of the signature header, Unix time in whole seconds. Early versions did not store it; responses do not show it.
   */
  signed_at?: number
}

export interface Attempt extends AttemptResult {
  number: number
}

/** Delivery of one event to one endpoint (contract section 9). */
export interface Delivery {
  id: string
  event_id: string
  event_type: EventType | 'ping'
  endpoint_id: string
  /**
   * URL of the endpoint, kept after the endpoint is removed. Absent before the first attempt; a delivery that ends without
   * one gets it at its end, if the endpoint exists.
   */
  endpoint_url?: string
  external_check_id: string | null
  status: 'pending' | 'delivered' | 'dead'
  attempts: readonly Attempt[]
  next_attempt_at: string | null
  dead_reason: 'exhausted' | 'endpoint_disabled' | null
  /** Present while a fault holds the next attempt back, until `next_attempt_at` at the latest. */
  held?: Hold
  /** Present while a running `tabwire listen` fetches the next attempt. Not shown. */
  offer?: Offer
  /** Only on a verbatim resend: `t` of the header that all its attempts repeat, in Unix seconds. Not shown. */
  signed_at?: number
}

/** Fault plan of an attempt that is held back. */
export interface Hold {
  faults: readonly DeliveryFaultKind[]
  since: string
  /** Earliest time to send, even after another delivery has overtaken this one. */
  not_before: string
}

/** The next attempt of a delivery, for a running `tabwire listen` that forwards it and answers. */
export interface Offer {
  id: string
  /** 1, or 2 for the repetition by an injected fault. */
  copy: number
  started_at: string
  signed_at: number
  traceparent?: string
  /** The first answer. */
  result?: OfferResult
}

/** Result of an offered attempt. */
export type OfferResult = Omit<
  AttemptResult,
  'started_at' | 'signed_at' | 'traceparent' | 'faults' | 'held_ms'
>

/**
 * Status of a delivery in one word. `retrying` deliveries are pending after a failed attempt, `held` ones while a fault
 * delays their next attempt.
 */
export const deliveryWords = ['pending', 'retrying', 'held', 'delivered', 'dead'] as const
export type DeliveryWord = (typeof deliveryWords)[number]

export function deliveryWord({ status, attempts, held }: Delivery): DeliveryWord {
  if (status !== 'pending') return status
  if (held !== undefined) return 'held'
  return attempts.length === 0 ? 'pending' : 'retrying'
}

/** Returns a delivery as responses and stream messages show it (contract section 9). */
export function viewDelivery({
  signed_at: _signed,
  offer: _offer,
  attempts,
  ...delivery
}: Delivery): Delivery {
  return { ...delivery, attempts: attempts.map(viewAttempt) }
}

function viewAttempt({ signed_at: _signed, ...attempt }: Attempt): Attempt {
  return attempt
}

/** One attempt and its delivery, as a stream message (contract section 10). */
export type AttemptMessage = Omit<Delivery, 'attempts'> & { attempt: Attempt }

/**
 * Returns a message for each attempt, oldest first, with the state of the delivery after that attempt. Every attempt
 * but the last left it pending; its next attempt time is the start of the next one.
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

/** The signature header of an attempt, exactly as sent. */
export interface SentSignature {
  /** The number of the attempt. */
  attempt: number
  signature: string
}
