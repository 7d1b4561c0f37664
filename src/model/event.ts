/** The event types of specification section 6, in its order. */
export const eventTypes = [
  'check.created',
  'check.updated',
  'check.closed',
  'check.fully_paid',
  'payment.succeeded',
  'payment.refunded',
  'claim.created',
  'feedback.received',
] as const
export type EventType = (typeof eventTypes)[number]
export const eventTypesAndPing = [...eventTypes, 'ping'] as const

/** An event that an operation reports. The outbox turns it into a stored event and deliveries. */
export interface DomainEvent {
  type: EventType
  /** Location of the check. Only its webhook endpoints receive the event. */
  location_id: string
  /** JSON of the resource's view; becomes `data` of the envelope. */
  json: string
  external_check_id: string | null
  /** Time of the envelope; default: now. */
  created_at?: string
}

/** Envelope of specification section 2: the body of a delivery. */
export interface Envelope {
  id: string
  type: EventType | 'ping'
  created_at: string
  data: unknown
}

/** Returns the JSON text of an envelope with this data text. No field of its head needs an escape. */
export function envelopeText({ id, type, created_at }: Omit<Envelope, 'data'>, data: string): string {
  return `{"id":"${id}","type":"${type}","created_at":"${created_at}","data":${data}}`
}

/**
 * An event in the store. `body` is the text of the envelope, serialised once; every attempt signs and sends these
 * bytes.
 */
export interface StoredEvent {
  id: string
  type: EventType | 'ping'
  created_at: string
  external_check_id: string | null
  body: string
  /** With `--trace`, the trace context of the request that caused the event; absent without one. */
  traceparent?: string
  tracestate?: string
}

/**
 * Returns JSON in the form in which bodies are stored; `undefined` for a text that is not JSON, or is nested too deeply to be
 * written again.
 */
export function inStoredForm(json: string): string | undefined {
  try {
    return JSON.stringify(JSON.parse(json))
  } catch {
    return undefined
  }
}
