import { z } from 'zod'
import type { EventType } from '../../model/event.ts'
import { stateRecords, time } from '../../model/state-records.ts'
import { checkView, claimView, endpointView, feedbackView, paymentView } from '../../model/views.ts'

/** What the `data` of each event is: what the matching `GET` returns (specification section 2). */
const dataOf = {
  'check.created': checkView,
  'check.updated': checkView,
  'check.closed': checkView,
  'check.fully_paid': checkView,
  'payment.succeeded': paymentView,
  'payment.refunded': paymentView,
  'claim.created': claimView,
  'feedback.received': feedbackView,
  ping: endpointView,
} satisfies Record<EventType | 'ping', z.ZodType>

export type WebhookType = keyof typeof dataOf
export const webhookTypes = Object.keys(dataOf) as WebhookType[]

/** `check.fully_paid` → `CheckFullyPaid` */
export function pascalCase(text: string): string {
  return text
    .split(/[._]/)
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join('')
}

/** The component that an event's envelope is: `CheckFullyPaidEvent`. */
export function envelopeName(type: WebhookType): string {
  return `${pascalCase(type)}Event`
}

/** The envelopes of all events, by the names of their components. */
export const envelopes: Record<string, z.ZodType> = Object.fromEntries(
  webhookTypes.map((type) => [envelopeName(type), envelopeOf(type)]),
)

function envelopeOf(type: WebhookType): z.ZodType {
  return z.strictObject({
    id: stateRecords.events.shape.id,
    type: z.literal(type),
    created_at: time,
    data: dataOf[type],
  })
}
