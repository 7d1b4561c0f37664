import { z } from 'zod'
import { scopes } from '../../model/api-key.ts'
import { checkStatuses, pushBody } from '../../model/check.ts'
import { errorSchema } from '../../model/error-details.ts'
import { eventTypes, eventTypesAndPing } from '../../model/event.ts'
import * as table from '../../model/guests/guest-table-schemas.ts'
import { claimBody, feedbackBody, payBody, refundBody } from '../../model/guests/records.ts'
import {
  clockMoveBody,
  createKeyBody,
  offerAnswerBody,
  resendBody,
  sessionCodeBody,
} from '../../model/simulator/bodies.ts'
import { bundleBody } from '../../model/simulator/bundle.ts'
import { apiFaultKinds, deliveryFaultKinds } from '../../model/simulator/fault-kinds.ts'
import { faultsBody } from '../../model/simulator/fault.ts'
import { findingCodes, problemCodes } from '../../model/simulator/report.ts'
import { pushOutcomes } from '../../model/simulator/request-entry.ts'
import { savedStateBody } from '../../model/simulator/state-checks.ts'
import * as sim from '../../model/simulator/views.ts'
import * as views from '../../model/views.ts'
import { chosenSecretBody, endpointStatuses, registerEndpointBody } from '../../model/webhook-endpoint.ts'
import { errorCodes, errorName } from './errors.ts'
import { isSafeBound, type Json, refTo, tidy } from './json.ts'
import { envelopes, storedEvents } from './webhooks.ts'

const [deliveryFault, apiFault] = faultsBody.shape.faults.element.options

/** Validating schemas of request bodies by component name. */
const bodies = {
  CheckPush: pushBody,
  PushedItem: pushBody.shape.items.element,
  Totals: pushBody.shape.totals,
  WebhookEndpointRegistration: registerEndpointBody,
  ClaimRequest: claimBody,
  PaymentRequest: payBody,
  RefundRequest: refundBody,
  FeedbackRequest: feedbackBody,
  ChosenSecretRegistration: chosenSecretBody,
  ResendRequest: resendBody,
  OfferAnswer: offerAnswerBody,
  ClockMove: clockMoveBody,
  FaultsRequest: faultsBody,
  DeliveryFault: deliveryFault,
  ApiFault: apiFault,
  KeyRequest: createKeyBody,
  SessionCode: sessionCodeBody,
  TableClaimRequest: table.tableClaimBody,
  TablePaymentRequest: table.tablePayBody,
  TableFeedbackRequest: table.tableFeedbackBody,
}

/** Schemas of records in lists. */
const listed = {
  Location: views.locationView,
  Check: views.checkView,
  Claim: views.claimView,
  Payment: views.paymentView,
  Feedback: views.feedbackView,
  WebhookEndpoint: views.endpointView,
  Delivery: sim.deliveryView,
  Event: sim.eventView,
  LoggedRequest: sim.requestView,
  ApiKey: sim.apiKeyView,
  EndpointHealth: sim.endpointHealthView,
}

/** Enumerations with several uses: clients get one type for each. */
const enums = {
  EventType: z.enum(eventTypes),
  EventTypeOrPing: z.enum(eventTypesAndPing),
  CheckStatus: z.enum(checkStatuses),
  ClaimStatus: views.claimView.shape.status,
  PaymentStatus: views.paymentView.shape.status,
  WebhookEndpointStatus: z.enum(endpointStatuses),
  DeliveryStatus: sim.deliveryView.shape.status,
  AttemptOutcome: views.attemptOutcome,
  DeadReason: sim.deliveryView.shape.dead_reason.unwrap(),
  DeliveryFaultKind: z.enum(deliveryFaultKinds),
  ApiFaultKind: z.enum(apiFaultKinds),
  CardResult: payBody.shape.card.unwrap(),
  Scope: z.enum(scopes),
  PushOutcome: z.enum(pushOutcomes),
  FindingCode: z.enum(findingCodes),
  ProblemCode: z.enum(problemCodes),
}

const answers = {
  ...listed,
  ...enums,
  ...Object.fromEntries(Object.entries(listed).map(([name, view]) => [`${name}List`, listOf(view)])),
  CheckItem: views.checkView.shape.items.element,
  Totals: views.checkView.shape.totals,
  ClaimedItem: views.claimView.shape.items.element,
  RegisteredWebhookEndpoint: views.registeredEndpointView,
  PingReport: views.pingReportView,
  Attempt: sim.attemptView,
  SentSignature: sim.sentSignatureView,
  Clock: sim.clockView,
  ClockReport: sim.clockReportView,
  Faults: sim.faultsView,
  DeliveryFault: deliveryFault,
  ApiFault: apiFault,
  State: savedStateBody,
  Bundle: bundleBody,
  StateReport: sim.stateReportView,
  Report: sim.reportView,
  Account: sim.accountView,
  CreatedApiKey: sim.createdKeyView,
  TableAddress: sim.tableAddressView,
  SentRequest: sim.sentRequestView,
  ResendPlan: sim.resendPlanView,
  TableQr: sim.tableQrView,
  Activity: sim.activityView,
  InspectorLink: sim.inspectorLinkView,
  NewSession: sim.newSessionView,
  Session: sim.sessionView,
  Health: sim.healthView,
  Readiness: sim.readinessView,
  TableView: table.tableView,
  TableCheck: table.tableCheckView,
  TableClaim: table.tableClaimView,
  TablePayment: table.tablePaymentView,
  ...envelopes,
  ...storedEvents,
}

/** Returns the component name of a body's schema. @throws when the schema is not a component. */
export function componentNameOf(schema: z.ZodType): string {
  const [name] = Object.entries({ ...answers, ...bodies }).find(([, known]) => known === schema) ?? []
  if (name === undefined) throw new Error('The body schema of a route is not a component of the document.')
  return name
}

/** Returns the schemas of all responses, errors and bodies by component name. @throws when two with one name differ. */
export function componentSchemas(): Record<string, Json> {
  const errors = errorCodes().map((code) => [errorName(code), errorSchema(code)])
  const shown = { ...answers, ...(Object.fromEntries(errors) as Record<string, z.ZodType>) }
  const asked = jsonSchemas(bodies, 'input')
  const answered = jsonSchemas(shown, 'output')
  for (const [name, schema] of Object.entries(asked))
    if (name in answered && openText(answered[name]) !== openText(schema))
      throw new Error(`${name} has different schemas in requests and responses.`)
  return withDiscriminators(withSharedEnums({ ...answered, ...asked }))
}

/** Returns a schema as text without what only requests restrict: `additionalProperties` and the size of integers. */
function openText(schema: Json | undefined): string {
  return JSON.stringify({ ...schema, additionalProperties: undefined }, (key, value: unknown) =>
    isSafeBound(key, value) ? undefined : value,
  )
}

/** Replaces each enumeration that is a component by a reference. */
function withSharedEnums(schemas: Record<string, Json>): Record<string, Json> {
  const names = new Map(Object.keys(enums).map((name) => [JSON.stringify(schemas[name]), name]))
  const shared = (key: string, value: unknown): unknown => {
    const { enum: values } = Object(value) as { enum?: unknown }
    const name = values === undefined ? undefined : names.get(JSON.stringify(value))
    return name === undefined || name === key ? value : refTo('schemas', name)
  }
  return JSON.parse(JSON.stringify(schemas), shared) as Record<string, Json>
}

/**
 * Adds a discriminator to each choice between components that a field with a constant tells apart: `type` of events, `on` of
 * faults.
 */
function withDiscriminators(schemas: Record<string, Json>): Record<string, Json> {
  const constantsOf = (ref: string): [field: string, property: Json][] => {
    const { properties = {} } = (schemas[nameOf(ref)] ?? {}) as { properties?: Record<string, Json> }
    return Object.entries(properties).filter(([, { const: value }]) => typeof value === 'string')
  }
  const distinguishing = new Set<Json>()
  const discriminate = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return
    Object.values(value).forEach(discriminate)
    const { oneOf } = value as { oneOf?: { $ref?: string }[] }
    const refs = oneOf?.map(({ $ref = '' }) => $ref) ?? []
    const [propertyName] = constantsOf(refs[0] ?? '').map(([name]) => name)
    if (propertyName === undefined) return
    const mapping = refs.map((ref) => {
      const property = constantsOf(ref).find(([name]) => name === propertyName)?.[1] ?? {}
      distinguishing.add(property)
      return [property.const, ref]
    })
    Object.assign(value, { discriminator: { propertyName, mapping: Object.fromEntries(mapping) as Json } })
  }
  discriminate(schemas)
  // Generators for OpenAPI 3.0 do not know constants, and refuse choices that no enumeration tells apart.
  for (const property of distinguishing) {
    property.enum = [property.const]
    delete property.const
  }
  return schemas
}

function nameOf(ref: string): string {
  return ref.slice(ref.lastIndexOf('/') + 1)
}

function listOf(view: z.ZodType): z.ZodType {
  return z.strictObject({ data: z.array(view), next_cursor: z.string().nullable() })
}

function jsonSchemas(schemas: Record<string, z.ZodType>, io: 'input' | 'output'): Record<string, Json> {
  const registry = z.registry<{ id: string }>()
  for (const [id, schema] of Object.entries(schemas)) registry.add(schema, { id })
  const made = z.toJSONSchema(registry, {
    target: 'draft-2020-12',
    io,
    uri: (id) => `#/components/schemas/${id}`,
    override: ({ jsonSchema }) => tidy(jsonSchema as Json, io),
  })
  return Object.fromEntries(
    Object.entries(made.schemas).map(([name, schema]) => [name, component(schema as Json)]),
  )
}

/** Removes keywords that only belong to a root schema. */
function component({ $schema: _schema, $id: _id, ...schema }: Json): Json {
  return schema
}

/** Descriptions by `Component` or `Component.field`. */
const texts: Readonly<Record<string, string>> = {
  CheckPush: 'The complete current state of a check (specification section 2).',
  'CheckPush.revision':
    'Increases with each change of the check: a counter, or milliseconds since 1970. Pushes with a revision converge in any order. `start --order-by FIELD` reads it from another field with integers or ISO 8601 times.',
  'CheckPush.items': 'All items of the check.',
  'PushedItem.external_id':
    "The caller's identifier of the item, unique within the check. Items are matched by it.",
  'PushedItem.quantity':
    'More than 0, at most 1,000,000. Guests claim in thousandths, so more than 3 decimals cause a finding.',
  'PushedItem.price_cents': 'Price of one unit, in minor units. Negative for a discount.',
  'PushedItem.note': 'Free text.',
  EventType: 'Types of events (specification section 6).',
  EventTypeOrPing: 'Types of events, and `ping`, which tests a receiver.',
  FindingCode: 'Mistakes of the sender of pushes (contract section 11).',
  Totals:
    'In minor units. The totals may differ from the sum of the items, for example by service charges or included taxes.',
  Check: 'A check, as responses and events contain it (contract section 3).',
  'Check.external_id': "The caller's identifier of the check, as in the path.",
  'Check.revision':
    'Revision of the latest push, whatever its field. Times are in UTC. Null if the push had none.',
  'Check.paid_cents': 'Amount paid minus refunds, without tips.',
  'Check.balance_cents': 'Amount still owed. Negative if the total fell below the paid amount.',
  'Check.updated_at': 'Increases with every visible change, so the newer of two states has the later time.',
  'CheckItem.claimed_quantity': 'Quantity in claims, paid or not.',
  'CheckItem.paid_quantity': 'Quantity in paid claims. The whole quantity while the check is fully paid.',
  Claim: 'Items that a guest has claimed.',
  'ClaimedItem.quantity': 'At most 3 decimals.',
  'Claim.amount_cents': 'Share of the total of the current check. Fixed once the claim is paid or released.',
  'Claim.payment_id': 'The payment that paid the claim, even if it was refunded later.',
  'ClaimedItem.price_cents': 'Price of one unit at the time of the claim, in minor units.',
  'Payment.amount_cents': 'Amount paid for the check, without the tip.',
  'Payment.claim_ids': 'The claims that the payment paid.',
  'Payment.refunded_cents': 'Refunded part of the amount.',
  'Feedback.rating': '1 to 5, where 5 is best.',
  WebhookEndpoint: 'A URL that receives events of its location.',
  'WebhookEndpoint.status': 'A disabled endpoint gets no deliveries. Register its URL again.',
  'RegisteredWebhookEndpoint.signing_secret':
    'Key of the signatures of all deliveries to this endpoint. Shown only once.',
  'WebhookEndpointRegistration.url':
    'An absolute https: URL without user info and fragment, at most 2,048 characters.',
  'WebhookEndpointRegistration.event_types': 'Event types to deliver, each once.',
  'ClaimRequest.items':
    'Each item once, with a quantity above 0, at most the unclaimed quantity, and at most 3 decimals.',
  'PaymentRequest.claim_ids':
    'Claims of this check to pay in full, each once. Cannot be combined with `amount_cents`.',
  'PaymentRequest.amount_cents': 'Amount to pay. Cannot be combined with `claim_ids`.',
  'PaymentRequest.tip_cents': 'Tip, 0 by default.',
  'PaymentRequest.card': 'Result of the simulated card, approved by default.',
  'RefundRequest.amount_cents': 'By default the rest of the payment.',
  'ResendRequest.fresh': 'True signs with the current time. False repeats the header of the first attempt.',
  'KeyRequest.scopes': 'Each once, by default all scopes.',
  DeliveryFault:
    'Faults of deliveries: at least one of the probabilities `duplicate`, `reorder`, `delay` and `drop`. The service counts `left` and `happened`.',
  ApiFault:
    'Faults of requests to `/v1`: at least one of `latency_ms` and the probabilities `error_rate`, `reset_rate` and `lost_answer_rate`. The service counts `left` and `happened`.',
  'KeyRequest.location_id': 'Id of a location, by default that of the calling key.',
  'Delivery.next_attempt_at': 'Set while the delivery is pending, otherwise null.',
  'Delivery.endpoint_url': 'URL of the endpoint, also after its removal; absent before the first attempt.',
  'Attempt.response_headers':
    'The headers of the response as received: at most 100, and 4 KiB of names and values. Absent without a response.',
  'Attempt.response_headers_cut': 'Present when the response had more headers, or a longer last value.',
  'Attempt.response_body': 'The first 4 KiB of the response body.',
  'Attempt.error': 'Error message: the cause and how to fix it.',
  Event: 'The envelope, and `body`: the exact bytes of the envelope that are signed and sent.',
  'Clock.offset_ms': 'Lead over real time, in milliseconds.',
  'TableAddress.url': 'Gives access to the table without an API key.',
  'TableView.checks': 'Open checks first, newest first.',
  'TableCheck.even_split_cents': 'Amount to split into even shares: the total minus claims that are paid.',
  'TableCheck.claims': 'Claims that hold items, oldest first.',
  'TableCheck.payments': 'Oldest first.',
  'TableClaim.mine': 'True if it belongs to the guest in `X-Guest-Id`.',
  'TablePayment.mine': 'True if it belongs to the guest in `X-Guest-Id`.',
  'TablePayment.tip_cents': 'Null for payments of other guests.',
  'TableClaimRequest.external_check_id': 'External id of a check at the table.',
  'TableClaimRequest.items':
    'Each item once, with a quantity above 0, at most the unclaimed quantity, and at most 3 decimals.',
  'TablePaymentRequest.external_check_id': 'External id of a check at the table.',
  'TablePaymentRequest.claim_ids':
    'Own claims to pay in full, each once. Cannot be combined with `amount_cents`.',
  'TablePaymentRequest.amount_cents': 'Amount to pay. Cannot be combined with `claim_ids`.',
  'TablePaymentRequest.tip_cents': 'Tip, 0 by default.',
  'TablePaymentRequest.expected_cents':
    'Amount that the guest saw, without the tip. If the amount has changed, nothing is paid.',
  'TablePaymentRequest.card': 'Result of the simulated card, approved by default.',
  'TableFeedbackRequest.external_check_id': 'External id of a check at the table.',
  'TableFeedbackRequest.rating': '1 to 5, where 5 is best.',
}

/** Adds the descriptions. @throws for a description of an unknown component or field. */
export function describe(schemas: Record<string, Json>): Record<string, Json> {
  for (const [key, description] of Object.entries(texts)) {
    const [name = '', field] = key.split('.')
    const schema = schemas[name]
    const target =
      field === undefined ? schema : (schema?.properties as Record<string, Json> | undefined)?.[field]
    if (target === undefined) throw new Error(`Unknown component or field: ${key}.`)
    target.description = description
  }
  return schemas
}
