import { unrepeated } from './validation.ts'
import { z } from 'zod'
import { eventTypes, type EventType } from './event.ts'
import type { AttemptOutcome } from './delivery.ts'

export const endpointStatuses = ['enabled', 'disabled'] as const

/** A registered receiver in the store (contract section 3). `viewEndpoint` returns its public fields. */
export interface WebhookEndpoint {
  id: string
  /** Location of the key that registered it; it receives only this location's events. Not shown. */
  location_id: string
  url: string
  event_types: readonly EventType[]
  status: (typeof endpointStatuses)[number]
  disabled_at: string | null
  disabled_reason: string | null
  created_at: string
  /** `whsec_…`, shown only in the response to the registration. */
  signing_secret: string
  /** Number of distinct consecutive deliveries whose first attempt failed (contract section 9). */
  consecutive_failures: number
}

export type WebhookEndpointView = Omit<
  WebhookEndpoint,
  'location_id' | 'signing_secret' | 'consecutive_failures'
>

/** Returns an endpoint as responses and events show it, without its secret. */
export function viewEndpoint(endpoint: WebhookEndpoint): WebhookEndpointView {
  const {
    location_id: _location,
    signing_secret: _secret,
    consecutive_failures: _failures,
    ...view
  } = endpoint
  return view
}

/** Longest URL of an endpoint, in characters. */
export const MAX_URL_LENGTH = 2048

/** Body of `POST /webhook-endpoints`. `delivery/destination/policy.ts` checks the scheme and the address of `url`. */
export const registerEndpointBody = z.object({
  url: z.string().min(1).max(MAX_URL_LENGTH),
  event_types: z
    .array(z.enum(eventTypes, { error: unknownType }))
    .min(1)
    .max(eventTypes.length)
    .refine(...unrepeated('must not repeat an event type'))
    .meta({ uniqueItems: true }),
})

/** A signing secret: 32 random bytes in base64url. */
export const signingSecretPattern = /^whsec_[\w-]{43}$/

/**
 * Body of `POST /_sim/webhook-endpoints`, where the caller may choose the secret. So a temporary endpoint can be
 * recreated without changing its receiver.
 */
export const chosenSecretBody = z.strictObject({
  ...registerEndpointBody.shape,
  signing_secret: z
    .string()
    .regex(
      signingSecretPattern,
      'must be the prefix of signing secrets and 43 letters, digits, hyphens or underscores',
    )
    .optional(),
})
export type ChosenSecretBody = z.infer<typeof chosenSecretBody>

function unknownType(issue: { input?: unknown }): string {
  return `must be one of ${eventTypes.join(', ')}, got ${JSON.stringify(issue.input)?.slice(0, 100)}`
}

/** Result of a ping (contract section 9): its attempt, whose fields are `null` when none was made. */
export interface PingReport {
  delivery_id: string
  event_id: string
  outcome: AttemptOutcome | null
  response_status: number | null
  duration_ms: number | null
  error: string | null
}
