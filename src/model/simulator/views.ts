import { z } from 'zod'
import { checkFields, itemFields } from '../check-diff.ts'
import { type Account, findingCodes, problemCodes, type Report } from './report.ts'
import { type Activity, RECENT, type RecentDeliveries } from './activity.ts'
import { scopes, type ApiKeyView } from '../api-key.ts'
import { viewDelivery, type SentSignature } from '../delivery.ts'
import { eventTypes } from '../event.ts'
import type { EventData, EventView } from '../event-view.ts'
import { apiFaultKinds } from './fault-kinds.ts'
import { faultsBody, type FaultsView } from './fault.ts'
import { checkStatuses, pushBody } from '../check.ts'
import { pushOutcomes, type LoggedRequest } from './request-entry.ts'
import type { PlaybackReport } from './playback.ts'
import type { ResendPlan, SentRequest } from './sent-request.ts'
import type { StateReport } from './state.ts'
import { httpHeader, id, stateRecords, time, traceId } from './state-records.ts'
import { stateCollections, type StateCollection } from './state.ts'
import { attemptOutcome, eventData, endpointView, locationView } from '../views.ts'
import { inspectorCode } from './inspector-link.ts'

// Schemas of responses of `/_sim` (contract section 10).

const { deliveries, events } = stateRecords

export const attemptView = deliveries.shape.attempts.element.omit({ signed_at: true })
export const deliveryView = deliveries.omit({ signed_at: true }).extend({
  attempts: z.array(attemptView),
}) satisfies z.ZodType<ReturnType<typeof viewDelivery>>

export const sentSignatureView = z.strictObject({
  attempt: z.int().min(1),
  signature: z.string(),
}) satisfies z.ZodType<SentSignature>

function eventOf<Type extends keyof EventData>(type: Type) {
  return events.extend({ type: z.literal(type), data: eventData[type] })
}

/** Events as `/_sim/events` shows them, by type. */
export const eventViews = {
  'check.created': eventOf('check.created'),
  'check.updated': eventOf('check.updated'),
  'check.closed': eventOf('check.closed'),
  'check.fully_paid': eventOf('check.fully_paid'),
  'payment.succeeded': eventOf('payment.succeeded'),
  'payment.refunded': eventOf('payment.refunded'),
  'claim.created': eventOf('claim.created'),
  'feedback.received': eventOf('feedback.received'),
  ping: eventOf('ping'),
} satisfies { [Type in keyof EventData]: z.ZodType<EventView<Type>> }

export const eventView = z.discriminatedUnion('type', [
  eventViews['check.created'],
  eventViews['check.updated'],
  eventViews['check.closed'],
  eventViews['check.fully_paid'],
  eventViews['payment.succeeded'],
  eventViews['payment.refunded'],
  eventViews['claim.created'],
  eventViews['feedback.received'],
  eventViews.ping,
]) satisfies z.ZodType<EventView>

export const sentRequestView = z.strictObject({
  attempt: z.int().min(1).nullable(),
  method: z.literal('POST'),
  url: z.string().nullable(),
  headers: z.array(httpHeader),
  unsigned_reason: z.string().nullable(),
  body: z.string(),
  endpoint: z.strictObject({
    status: z.enum(['enabled', 'disabled', 'removed']),
    disabled_reason: z.string().nullable(),
    event_types: z.array(z.enum(eventTypes)),
  }),
}) satisfies z.ZodType<SentRequest>

const skipCount = z.int().min(0)
export const resendPlanView = z.strictObject({
  ids: z.array(deliveries.shape.id),
  skipped: z.strictObject({
    endpoint_disabled: skipCount,
    endpoint_removed: skipCount,
    covered: skipCount,
    ping: skipCount,
  }),
}) satisfies z.ZodType<ResendPlan>

export const apiKeyView = z.strictObject({
  id: id('key'),
  name: z.string(),
  scopes: z.array(z.enum(scopes)),
  location_id: id('loc'),
  created_at: time,
  revoked_at: time.nullable(),
}) satisfies z.ZodType<ApiKeyView>

export const createdKeyView = apiKeyView.extend({ api_key: z.string() })

export const activityView = z.strictObject({
  deliveries: z.int().min(0),
  median_ms: z.number().nullable(),
  p95_ms: z.number().nullable(),
  bucket_ms: z.int().min(1),
  buckets: z.array(
    z.strictObject({
      at: time,
      succeeded: z.int().min(0),
      failed: z.int().min(0),
      dead: z.int().min(0),
      median_ms: z.number().nullable(),
      p95_ms: z.number().nullable(),
    }),
  ),
}) satisfies z.ZodType<Activity>

export const clockView = z.strictObject({
  now: time,
  frozen: z.boolean(),
  offset_ms: z.number(),
  moving: z.strictObject({ to: time, waiting_for: z.array(deliveries.shape.id).max(10) }).nullable(),
})

export const clockReportView = clockView.extend({
  attempted_total: z.int().min(0),
  outcomes: z.partialRecord(attemptOutcome, z.int()),
  attempted: z.array(
    z.strictObject({
      delivery_id: deliveries.shape.id,
      event_type: deliveries.shape.event_type,
      endpoint_id: deliveries.shape.endpoint_id,
      attempt: z.int().min(1),
      at: time,
      outcome: attemptOutcome,
      response_status: z.int().nullable(),
      status: deliveries.shape.status,
    }),
  ),
}) satisfies z.ZodType<PlaybackReport>

export const faultsView = faultsBody.required({ seed: true }) satisfies z.ZodType<FaultsView>

const counts = Object.fromEntries(stateCollections.map((name) => [name, z.int().min(0)])) as Record<
  StateCollection,
  z.ZodInt
>

export const stateReportView = z.strictObject({
  clock: clockView,
  records: z.strictObject(counts),
  pending: z.int().min(0),
}) satisfies z.ZodType<StateReport>

const { external_id, name, quantity, price_cents, note } = pushBody.shape.items.element.shape
const pushedItem = z.strictObject({ external_id, name, quantity, price_cents, note: note.unwrap() })
const fieldValue = z.union([z.string(), z.number(), z.null()])

const itemDiff = z.strictObject({
  added: z.array(pushedItem),
  removed: z.array(pushedItem),
  changed: z.array(
    z.strictObject({
      external_id,
      name,
      changes: z.array(
        z.strictObject({
          field: z.enum(itemFields),
          from: fieldValue,
          to: fieldValue,
        }),
      ),
    }),
  ),
  unchanged: z.int().min(0),
  reordered: z.literal(true).exactOptional(),
})

const checkChange = z.strictObject({
  field: z.enum(checkFields),
  from: z.union([z.string(), z.number()]),
  to: z.union([z.string(), z.number()]),
})

const logged = z.strictObject({
  id: id('req'),
  method: z.string(),
  path: z.string(),
  status: z.int(),
  started_at: time,
})

export const findingView = z.strictObject({ code: z.enum(findingCodes), message: z.string() })
const pushFindings = z.array(findingView)

export const requestView = logged.extend({
  duration_ms: z.number(),
  location_id: id('loc').exactOptional(),
  trace_id: traceId,
  push: z
    .strictObject({
      external_check_id: z.string(),
      outcome: z.enum(pushOutcomes),
      diff: itemDiff.nullable(),
      changes: z.array(checkChange).exactOptional(),
      findings: pushFindings,
    })
    .nullable(),
  findings: pushFindings.exactOptional(),
  request_body: z.string().nullable(),
  response_body: z.string().nullable(),
  faults: z.array(z.enum(apiFaultKinds)).exactOptional(),
}) satisfies z.ZodType<LoggedRequest>

export const refusedPushes = z.array(
  z.strictObject({ status: z.int().min(400).max(499), code: z.string(), count: z.int().min(1) }),
)

export const reportView = z.strictObject({
  since: time.nullable(),
  pushes: z.int().min(0),
  refused: refusedPushes,
  findings: z.array(
    z.strictObject({
      code: z.enum(findingCodes),
      count: z.int().min(1),
      first_at: time,
      last_at: time,
      requests: z.array(logged.extend({ message: z.string() })),
      includes_earlier: z.boolean(),
    }),
  ),
}) satisfies z.ZodType<Report>

const sums = {
  pushed_cents: z.int(),
  claimed_cents: z.int(),
  paid_cents: z.int(),
  tipped_cents: z.int(),
  refunded_cents: z.int(),
  owed_cents: z.int(),
  paid_elsewhere_cents: z.int(),
  overpaid_cents: z.int(),
}

export const accountView = z.strictObject({
  location_id: id('loc'),
  currency: z.string(),
  checks: z.array(
    z.strictObject({
      external_check_id: z.string(),
      table: z.strictObject({ number: z.string() }),
      status: z.enum(checkStatuses),
      ...sums,
      problems: z.array(z.enum(problemCodes)),
    }),
  ),
  checks_of_other_locations: z.int().min(1).exactOptional(),
  sums: z.strictObject(sums),
  problems: z.array(
    z.strictObject({
      code: z.enum(problemCodes),
      external_check_id: z.string(),
      at: time,
      message: z.string(),
      requests: z.array(id('req')),
      events: z.array(id('evt')),
      deliveries: z.array(id('dlv')),
    }),
  ),
}) satisfies z.ZodType<Account>

export const tableAddressView = z.strictObject({
  number: z.string(),
  location_id: id('loc'),
  url: z.url(),
})

export const tableQrView = z.strictObject({
  url: z.url(),
  size: z.int().min(1).describe('Modules per side, with the white border.'),
  path: z.string().describe('SVG path of the dark modules.'),
})

/** The recording that a service replays. */
const replay = z
  .strictObject({ recorded_at: time, tabwire: z.string(), node: z.string() })
  .exactOptional()
  .describe('The recording of a bundle that this service replays. A replay sends no deliveries.')

export const healthView = z.strictObject({
  status: z.literal('ok'),
  started_at: time,
  order_by: z.string(),
  /** The name in the signature header, `X-<name>-Signature`. */
  service_name: z.string(),
  replay,
})

export const readinessView = z.strictObject({ status: z.literal('ready') })

// Schemas of responses for the inspector's page.

export const inspectorLinkView = z.strictObject({
  code: z.string().regex(inspectorCode).describe('Opens the inspector once: `/#link=<code>` of the service.'),
  expires_in_seconds: z.int().min(1),
})

export const sessionView = z.strictObject({
  session: z.strictObject({ service_name: z.string(), location: locationView.nullable(), replay }).nullable(),
})

export const newSessionView = sessionView.extend({
  page_secret: z.string().min(1).describe('Secret that the page sends as `X-Tabwire-Page` with its cookie.'),
})

/** Schema of an endpoint with its count of consecutive failures and the outcome of its newest deliveries. */
export const endpointHealthView = endpointView.extend({
  consecutive_failures: z.int().min(0),
  recent: z.strictObject({
    deliveries: z.int().min(0).max(RECENT).describe('The newest deliveries with an attempt.'),
    delivered: z.int().min(0).max(RECENT),
  }),
  last_error: z
    .strictObject({
      delivery_id: deliveries.shape.id,
      at: time,
      outcome: attemptOutcome,
      response_status: z.int().nullable(),
      error: z.string().nullable(),
    })
    .nullable()
    .describe('The newest failed attempt of these deliveries.'),
}) satisfies z.ZodType<RecentDeliveries>
