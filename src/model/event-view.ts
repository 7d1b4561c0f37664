import type { Check } from './check.ts'
import type { ClaimView } from './guests/claim.ts'
import type { Envelope, StoredEvent } from './event.ts'
import type { FeedbackView } from './guests/feedback.ts'
import type { PaymentView } from './guests/payment.ts'
import type { WebhookEndpointView } from './webhook-endpoint.ts'

/** The `data` of each event: what the matching `GET` returns (specification section 2). */
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

/** The envelope of events of these types, as receivers get it: its `type` tells what its `data` is. */
export type EnvelopeOf<Type extends keyof EventData = keyof EventData> = {
  [One in Type]: Omit<Envelope, 'type' | 'data'> & { type: One; data: EventData[One] }
}[Type]

/** Events of these types as `/_sim/events` shows them: the envelope, and `body`, its exact text. */
export type EventView<Type extends keyof EventData = keyof EventData> = {
  [One in Type]: Omit<StoredEvent, 'type'> & { type: One; data: EventData[One] }
}[Type]

/** An event as `/_sim/events` shows it. */
export function viewEvent(event: StoredEvent): EventView {
  const { data } = JSON.parse(event.body) as Envelope
  return { ...event, data } as EventView
}
