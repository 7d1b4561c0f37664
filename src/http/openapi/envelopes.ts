import { z } from 'zod'
import type { EventData } from '../../model/event-view.ts'
import { eventViews } from '../../model/simulator/views.ts'
import { stateRecords, time } from '../../model/simulator/state-records.ts'
import { eventData } from '../../model/views.ts'

export type WebhookType = keyof EventData
export const webhookTypes = Object.keys(eventData) as WebhookType[]

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
    data: eventData[type],
  })
}

/** The events as `/_sim/events` shows them, by the names of their components: `StoredCheckFullyPaidEvent`. */
export const storedEvents: Record<string, z.ZodType> = Object.fromEntries(
  webhookTypes.map((type) => [`Stored${envelopeName(type)}`, eventViews[type]]),
)
