import { z } from 'zod'
import { pushBody } from '../check.ts'
import { attemptOutcomes } from '../delivery.ts'
import { eventTypesAndPing } from '../event.ts'
import { deliveryFaultKinds } from './fault-kinds.ts'
import type { StateCollection } from './state.ts'
import { feedbackBody } from '../guests/records.ts'
import type { Collections } from '../records.ts'
import { storedRevision } from '../revision-schemas.ts'
import { isTraceparent, isTracestate } from '../text/trace-context.ts'
import { endpointStatuses, registerEndpointBody } from '../webhook-endpoint.ts'

/** Returns the schema of an id: a prefix such as `chk_`, and 26 characters (contract section 1). */
export const id = (prefix: string) =>
  z
    .string()
    .regex(
      new RegExp(`^${prefix}_[0-7][0-9A-HJKMNP-TV-Z]{25}$`),
      `must be an identifier: ${prefix}_ and 26 characters`,
    )

/** Matches days 1 to 28, which every month has. Checking others in the calendar takes ten times as long. */
const usualTime = /^\d{4}-(0[1-9]|1[0-2])-(0[1-9]|1\d|2[0-8])T([01]\d|2[0-3]):[0-5]\d:[0-5]\d\.\d{3}Z$/

/** Times are compared as text, so only one notation is valid. */
export const time = z
  .string()
  .refine(
    (text) => usualTime.test(text) || (/^\d{4}-.*Z$/.test(text) && new Date(text).toJSON() === text),
    'must be a time in UTC with milliseconds, such as 2026-11-21T18:00:00.000Z',
  )
  .meta({ format: 'date-time' })

const traceparent = z
  .string()
  .refine(isTraceparent, 'must be a traceparent of version 00, in W3C Trace Context')
  .exactOptional()
const tracestate = z
  .string()
  .refine(isTracestate, 'must be a tracestate of at most 512 characters, in W3C Trace Context')
  .exactOptional()
/** Schema of the trace id of a request. */
export const traceId = z
  .string()
  .regex(/^[0-9a-f]{32}$/, 'must be a trace id: 32 lower-case hex digits')
  .exactOptional()
const unixSeconds = z.int().min(0).exactOptional()
const quantity = z.number().min(0)
const cents = z.int().min(0)
const guest_name = z.string().nullable()
const guest_hash = z.string().exactOptional()
const { external_id, name, price_cents } = pushBody.shape.items.element.shape

const item = z.strictObject({
  external_id,
  name,
  // Only pushes have an upper bound: earlier versions stored any quantity.
  quantity: z.number().gt(0),
  price_cents,
  note: z.string().max(1000).nullable(),
  claimed_quantity: quantity,
  paid_quantity: quantity,
})

export const httpHeader = z.strictObject({ name: z.string(), value: z.string() })

const faults = z.array(z.enum(deliveryFaultKinds))

const attempt = z.strictObject({
  number: z.int().min(1),
  started_at: time,
  duration_ms: z.number().min(0),
  outcome: z.enum(attemptOutcomes),
  response_status: z.int().nullable(),
  response_headers: z.array(httpHeader).exactOptional(),
  response_headers_cut: z.literal(true).exactOptional(),
  response_body: z.string().nullable(),
  error: z.string().nullable(),
  faults: faults.exactOptional(),
  held_ms: z.number().min(0).exactOptional(),
  traceparent,
  signed_at: unixSeconds,
})

const anyEventType = z.enum(eventTypesAndPing)
const url = registerEndpointBody.shape.url.refine((text) => URL.canParse(text), 'must be an absolute URL')

/** Schema of each record of a state. The compiler requires one for every collection. */
export const stateRecords = {
  locations: z.strictObject({
    id: id('loc'),
    name: z.string(),
    timezone: z.string(),
    currency: z.string(),
    created_at: time,
  }),
  checks: z.strictObject({
    id: id('chk'),
    external_id: external_id.refine((text) => !/\p{Cc}/u.test(text), 'must not have control characters'),
    location_id: id('loc'),
    table: z.strictObject(pushBody.shape.table.shape),
    status: pushBody.shape.status,
    items: z.array(item).max(1000),
    totals: z.strictObject(pushBody.shape.totals.shape),
    revision: storedRevision,
    paid_cents: z.int(),
    balance_cents: z.int(),
    created_at: time,
    updated_at: time,
    closed_at: time.nullable(),
    ordered_by: z.string().exactOptional(),
  }),
  claims: z.strictObject({
    id: id('clm'),
    check_id: id('chk'),
    external_check_id: external_id,
    location_id: id('loc'),
    guest_name,
    items: z.array(z.strictObject({ external_id, quantity, price_cents })),
    amount_cents: z.int(),
    status: z.enum(['active', 'paid', 'released']),
    payment_id: id('pay').nullable(),
    created_at: time,
    guest_hash,
  }),
  payments: z.strictObject({
    id: id('pay'),
    check_id: id('chk'),
    external_check_id: external_id,
    location_id: id('loc'),
    guest_name,
    claim_ids: z.array(id('clm')),
    amount_cents: cents,
    tip_cents: cents,
    refunded_cents: cents,
    currency: z.string(),
    method: z.literal('card'),
    status: z.enum(['succeeded', 'partially_refunded', 'refunded']),
    created_at: time,
    refunded_at: time.nullable(),
    guest_hash,
  }),
  feedback: z.strictObject({
    id: id('fbk'),
    check_id: id('chk'),
    external_check_id: external_id,
    location_id: id('loc'),
    guest_name,
    rating: feedbackBody.shape.rating,
    comment: z.string().max(1000).nullable(),
    created_at: time,
  }),
  endpoints: z.strictObject({
    id: id('we'),
    location_id: id('loc'),
    url,
    event_types: registerEndpointBody.shape.event_types,
    status: z.enum(endpointStatuses),
    disabled_at: time.nullable(),
    disabled_reason: z.string().nullable(),
    created_at: time,
    signing_secret: z.string().regex(/^whsec_./, 'must be a signing secret that starts with whsec_'),
    consecutive_failures: z.int().min(0),
  }),
  events: z.strictObject({
    id: id('evt'),
    type: anyEventType,
    created_at: time,
    external_check_id: z.string().nullable(),
    body: z.string(),
    traceparent,
    tracestate,
  }),
  deliveries: z.strictObject({
    id: id('dlv'),
    event_id: id('evt'),
    event_type: anyEventType,
    endpoint_id: id('we'),
    endpoint_url: url.exactOptional(),
    external_check_id: z.string().nullable(),
    status: z.enum(['pending', 'delivered', 'dead']),
    attempts: z.array(attempt),
    next_attempt_at: time.nullable(),
    dead_reason: z.enum(['exhausted', 'endpoint_disabled']).nullable(),
    held: z.strictObject({ faults, since: time, not_before: time }).exactOptional(),
    signed_at: unixSeconds,
  }),
} satisfies { readonly [C in StateCollection]: z.ZodType<Collections[C]> }
