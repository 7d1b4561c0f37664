import { z } from 'zod'
import type { ClaimView, FeedbackView, PaymentView } from './guests/records.ts'
import type { Check } from './check.ts'
import type { EventData } from './event-view.ts'
import type { Location } from './records.ts'
import type { PingReport, WebhookEndpointView } from './webhook-endpoint.ts'
import { stateRecords } from './simulator/state-records.ts'

const { locations, checks, claims, payments, feedback, endpoints, deliveries } = stateRecords
const attempt = deliveries.shape.attempts.element

/** Schema of `AttemptOutcome`. */
export const attemptOutcome = attempt.shape.outcome

/** Schemas of records in responses (contract section 3). The compiler refuses a schema without a field of its view. */
export const locationView = locations satisfies z.ZodType<Location>
export const checkView = checks.omit({ ordered_by: true }) satisfies z.ZodType<Check>
export const claimView = claims.omit({ location_id: true, guest_hash: true }) satisfies z.ZodType<ClaimView>
export const paymentView = payments.omit({
  location_id: true,
  guest_hash: true,
}) satisfies z.ZodType<PaymentView>
export const feedbackView = feedback.omit({ location_id: true }) satisfies z.ZodType<FeedbackView>
export const endpointView = endpoints.omit({
  location_id: true,
  signing_secret: true,
  consecutive_failures: true,
}) satisfies z.ZodType<WebhookEndpointView>

/** Schema of the response to a registration, the only one with the secret. */
export const registeredEndpointView = endpointView.extend({
  signing_secret: endpoints.shape.signing_secret,
}) satisfies z.ZodType<WebhookEndpointView & { signing_secret: string }>

/** Schema of `data` of each event: the response of the matching `GET` (specification section 2). */
export const eventData = {
  'check.created': checkView,
  'check.updated': checkView,
  'check.closed': checkView,
  'check.fully_paid': checkView,
  'payment.succeeded': paymentView,
  'payment.refunded': paymentView,
  'claim.created': claimView,
  'feedback.received': feedbackView,
  ping: endpointView,
} satisfies { [Type in keyof EventData]: z.ZodType<EventData[Type]> }

export const pingReportView = z.strictObject({
  delivery_id: deliveries.shape.id,
  event_id: deliveries.shape.event_id,
  outcome: attemptOutcome.nullable(),
  response_status: attempt.shape.response_status,
  duration_ms: attempt.shape.duration_ms.nullable(),
  error: attempt.shape.error,
}) satisfies z.ZodType<PingReport>
