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

/** What an operation says has happened; the outbox makes an event of it, and deliveries. */
export interface DomainEvent {
  type: EventType
  /** The location of the check: only its webhook endpoints receive the event. */
  location_id: string
  /** The resource's view at this moment: it becomes the envelope's `data`. */
  data: object
  external_check_id: string | null
}

/** The envelope of specification section 2, which receivers get as the body of a delivery. */
export interface Envelope {
  id: string
  type: EventType | 'ping'
  created_at: string
  data: unknown
}

/** The text of an envelope, around the text of its data; nothing in its head needs an escape. */
export function envelopeText({ id, type, created_at }: Omit<Envelope, 'data'>, data: string): string {
  return `{"id":"${id}","type":"${type}","created_at":"${created_at}","data":${data}}`
}

/** An event as it is stored: `body` is the envelope as `JSON.stringify` writes it, once, and signed and sent as these very bytes. */
export interface StoredEvent {
  id: string
  type: EventType | 'ping'
  created_at: string
  external_check_id: string | null
  body: string
}
