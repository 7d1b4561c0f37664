import type { Check } from './check.ts'
import type { ClaimView, FeedbackView, PaymentView } from './guests/records.ts'
import type { Envelope, StoredEvent } from './event.ts'
import type { WebhookEndpointView } from './webhook-endpoint.ts'

/** Type of `data` of each event: the response of the matching `GET` (specification section 2). */
export interface EventData {
  'check.created': Check
  'check.updated': Check
  'check.closed': Check
  'check.fully_paid': Check
  'payment.succeeded': PaymentView
  'payment.refunded': PaymentView
  'claim.created': ClaimView
  'feedback.received': FeedbackView
  ping: WebhookEndpointView
}

/** Envelope of events of these types, as receivers get it. Its `type` determines the type of `data`. */
export type EnvelopeOf<Type extends keyof EventData = keyof EventData> = {
  [One in Type]: Omit<Envelope, 'type' | 'data'> & { type: One; data: EventData[One] }
}[Type]

/** Events of these types as `/_sim/events` shows them: the envelope, and `body` with its exact text. */
export type EventView<Type extends keyof EventData = keyof EventData> = {
  [One in Type]: Omit<StoredEvent, 'type'> & { type: One; data: EventData[One] }
}[Type]

/** Returns an event as `/_sim/events` shows it. */
export function viewEvent(event: StoredEvent): EventView {
  const { data } = JSON.parse(event.body) as Envelope
  return { ...event, data } as EventView
}
