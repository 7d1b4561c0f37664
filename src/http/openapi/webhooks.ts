import { signatureHeader } from '../../model/text/service-name.ts'
import { refTo, type Json } from './json.ts'
import { headerParameter, traceParameters } from './parameters.ts'
import { z } from 'zod'
import type { EventData } from '../../model/event-view.ts'
import { eventViews } from '../../model/simulator/views.ts'
import { stateRecords, time } from '../../model/simulator/state-records.ts'
import { eventData } from '../../model/views.ts'

type WebhookType = keyof EventData
export const webhookTypes = Object.keys(eventData) as WebhookType[]

/** `check.fully_paid` → `CheckFullyPaid` */
export function pascalCase(text: string): string {
  return text
    .split(/[._]/)
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join('')
}

/** Returns the component name of an envelope: `CheckFullyPaidEvent`. */
function envelopeName(type: WebhookType): string {
  return `${pascalCase(type)}Event`
}

/** Returns the envelopes of all events by component name. */
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

/** Returns the events of `/_sim/events` by component name: `StoredCheckFullyPaidEvent`. */
export const storedEvents: Record<string, z.ZodType> = Object.fromEntries(
  webhookTypes.map((type) => [`Stored${envelopeName(type)}`, eventViews[type]]),
)

/** Trigger of each event (contract sections 6 to 8). */
const triggers = {
  'check.created': 'A push created a check.',
  'check.updated': 'A push changed a check.',
  'check.closed': 'A push closed a check, or created a closed check.',
  'check.fully_paid':
    'A payment, or a push that lowered the total, brought the balance of a paid check to 0 or less. Sent each time.',
  'payment.succeeded': 'A guest paid.',
  'payment.refunded': 'A payment was refunded, fully or partly.',
  'claim.created': 'A guest claimed items.',
  'feedback.received': 'A guest left feedback.',
  ping: 'A ping, which tests a receiver end to end. Sent whatever event types the endpoint lists.',
} satisfies Record<WebhookType, string>

const retries =
  'Respond with 2xx within 10 seconds. Otherwise the delivery is retried; the tag Webhook endpoints has the schedule. Deliveries can arrive more than once and in any order. Deduplicate by the `id` of the envelope.'

const retriesNot = 'One attempt, no retry.'

/** The signature header of deliveries, as a component. */
export function signatureParameter(serviceName: string): Json {
  return {
    name: signatureHeader(serviceName),
    in: 'header',
    required: true,
    description:
      '`t=<unix_seconds>,v1=<hex_hmac_sha256>`: the HMAC-SHA256 of `t`, a period and the raw body, keyed with the signing secret of the endpoint, in lowercase hex. Reject deliveries that do not match or whose `t` is more than 300 seconds from now (specification section 5).',
    schema: { type: 'string', pattern: '^t=\\d+,v1=[0-9a-f]{64}$' },
    example: `t=1795197731,v1=${'5f2b'.repeat(16)}`,
  }
}

function delivery(type: WebhookType, trace: boolean): Json {
  const retried = type === 'ping' ? '' : ' The delivery is retried.'
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
    parameters: [
      refTo('parameters', 'webhook-signature'),
      ...(trace ? traceParameters.map(headerParameter) : []),
    ],
    requestBody: { required: true, content },
    responses: {
      '2XX': { description: 'Accepted. The response body is ignored.' },
      '4XX': { description: `Rejected, for example for a wrong signature.${retried}` },
      '5XX': { description: `Failed.${retried}` },
    },
  }
}

/** Deliveries of events and pings as webhooks (specification section 6); with `trace`, those of `--trace`. */
export function webhooksOf({ trace }: { trace: boolean }): Readonly<Record<string, Json>> {
  return Object.fromEntries(webhookTypes.map((type) => [type, { post: delivery(type, trace) }]))
}
