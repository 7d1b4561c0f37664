import type { EventData, WebhookEvent } from './event.ts'
import { requireRaw, type Payload } from './options.ts'

export type EventErrorCode = 'invalid_json' | 'invalid_envelope'

/** Thrown by `parseEvent` for a body that is not an event. */
export class EventError extends Error {
  override readonly name = 'EventError'
  readonly code: EventErrorCode

  constructor(code: EventErrorCode, message: string, options?: ErrorOptions) {
    super(message, options)
    this.code = code
  }
}

/** All event types of this version; the compiler requires a row for each. */
const known: Record<keyof EventData, true> = {
  'check.created': true,
  'check.updated': true,
  'check.closed': true,
  'check.fully_paid': true,
  'payment.succeeded': true,
  'payment.refunded': true,
  'claim.created': true,
  'feedback.received': true,
  ping: true,
}

/**
 * Parses the body of a verified delivery; its `type` narrows its `data` in TypeScript. Validates the envelope, but not `data`.
 * Returns `type: 'unknown'` for a type that this version does not know.
 *
 * @throws EventError `invalid_json` or `invalid_envelope`; TypeError when the body was parsed before.
 * @example
 * const event = parseEvent(rawBody)
 * switch (event.type) {
 *   case 'check.closed':
 *     return close(event.data.external_id, event.data.paid_cents)
 *   case 'payment.succeeded':
 *     return book(event.data.amount_cents, event.data.tip_cents)
 * }
 */
export function parseEvent(body: Payload): WebhookEvent {
  requireRaw(body)
  const envelope: unknown = parse(typeof body === 'string' ? body : decode(body))
  const { id, type, created_at, data } = requireEnvelope(envelope)
  if (Object.hasOwn(known, type)) return { id, type, created_at, data } as WebhookEvent
  return { id, type: 'unknown', received_type: type, created_at, data }
}

function decode(bytes: Exclude<Payload, string>): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch (cause) {
    throw new EventError('invalid_json', 'The body is not JSON, because it is not UTF-8.', { cause })
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw new EventError('invalid_json', 'The body is not valid JSON.', { cause })
  }
}

interface Envelope {
  id: string
  type: string
  created_at: string
  data: unknown
}

function requireEnvelope(value: unknown): Envelope {
  const fields = (typeof value === 'object' && value !== null ? value : {}) as Partial<Envelope>
  const missing = (['id', 'type', 'created_at'] as const).filter((name) => typeof fields[name] !== 'string')
  if (missing.length === 0 && typeof fields.data === 'object' && fields.data !== null)
    return fields as Envelope
  throw new EventError(
    'invalid_envelope',
    `The body is not an event: ${[...missing, ...(missing.length === 0 ? ['data'] : [])].join(', ')} is missing or has a wrong type.`,
  )
}
