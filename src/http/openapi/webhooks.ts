import { signatureHeader } from '../../model/text/service-name.ts'
import { refTo, type Json } from './json.ts'
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

/** When each event comes (contract section 6 to 8). */
const triggers = {
  'check.created': 'A push made a check.',
  'check.updated': 'A push changed what is visible of a check.',
  'check.closed': 'A push closed a check, or made one that is closed.',
  'check.fully_paid': 'The balance of a check has come to 0 with something paid; once per crossing.',
  'payment.succeeded': 'A guest has paid.',
  'payment.refunded': 'A payment was refunded, in full or in part.',
  'claim.created': 'A guest has claimed items.',
  'feedback.received': 'A guest has rated the meal.',
  ping: 'A ping was asked for, to verify the receiver end to end. Whatever the event types of the endpoint are.',
} satisfies Record<WebhookType, string>

const retries =
  'Answer with a 2xx within 10 seconds, or the delivery is tried again: the tag Webhook endpoints has the schedule. Deliveries may come twice and in any order: tell them apart by the `id` of the envelope.'

const retriesNot = 'One attempt, no retry.'

/** The signature header of deliveries, as a component. */
export function signatureParameter(serviceName: string): Json {
  return {
    name: signatureHeader(serviceName),
    in: 'header',
    required: true,
    description:
      '`t=<unix_seconds>,v1=<hex_hmac_sha256>`: the HMAC-SHA256 of `t`, a period and the raw body, keyed with the signing secret of the endpoint, in lowercase hex. Refuse what does not match, and what is more than 300 seconds from now (specification section 5).',
    schema: { type: 'string', pattern: '^t=\\d+,v1=[0-9a-f]{64}$' },
    example: `t=1795197731,v1=${'5f2b'.repeat(16)}`,
  }
}

function delivery(type: WebhookType): Json {
  const content = {
    'application/json': {
      schema: refTo('schemas', envelopeName(type)),
      examples: { example: refTo('examples', type) },
    },
  }
  return {
    operationId: `on${pascalCase(type)}`,
    tags: ['Webhook endpoints'],
    summary: type,
    description: `${triggers[type]}\n\n${type === 'ping' ? retriesNot : retries}`,
    security: [],
    parameters: [refTo('parameters', 'webhook-signature')],
    requestBody: { required: true, content },
    responses: {
      '2XX': { description: 'Taken. The body is of no interest.' },
      '4XX': { description: 'Refused, such as for a wrong signature; tried again.' },
      '5XX': { description: 'Failed; tried again.' },
    },
  }
}

/** The deliveries of all events and of pings, as webhooks (specification section 6). */
export const webhooks: Readonly<Record<string, Json>> = Object.fromEntries(
  webhookTypes.map((type) => [type, { post: delivery(type) }]),
)
