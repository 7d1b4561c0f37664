import { z } from 'zod'
import { pushBody } from '../../model/check.ts'
import { claimBody } from '../../model/guests/claim.ts'
import { errorSchema } from '../../model/error-details.ts'
import { faultsBody } from '../../model/simulator/fault.ts'
import { feedbackBody } from '../../model/guests/feedback.ts'
import { payBody, refundBody } from '../../model/guests/payment.ts'
import { clockMoveBody, createKeyBody, resendBody, sessionCodeBody } from '../../model/simulator/bodies.ts'
import * as sim from '../../model/simulator/views.ts'
import { savedStateBody } from '../../model/simulator/state.ts'
import { bundleBody } from '../../model/simulator/bundle.ts'
import { offerAnswerBody } from '../../model/offer.ts'
import * as table from '../../model/guest-table/schemas.ts'
import * as views from '../../model/views.ts'
import { chosenSecretBody, registerEndpointBody } from '../../model/webhook-endpoint.ts'
import { envelopes, storedEvents } from './webhooks.ts'
import { errorCodes, errorName } from './errors.ts'
import { tidy, type Json } from './json.ts'

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

const answers = {
  ...listed,
  ...Object.fromEntries(Object.entries(listed).map(([name, view]) => [`${name}List`, listOf(view)])),
  CheckItem: views.checkView.shape.items.element,
  Totals: views.checkView.shape.totals,
  ClaimedItem: views.claimView.shape.items.element,
  RegisteredWebhookEndpoint: views.registeredEndpointView,
  PingReport: views.pingReportView,
  Attempt: sim.attemptView,
  SentSignature: sim.sentSignatureView,
  AttemptOutcome: views.attemptOutcome,
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
  return withDiscriminators({ ...answered, ...asked })
}

/** Returns a schema as text without `additionalProperties`, which only requests restrict. */
function openText(schema: Json | undefined): string {
  return JSON.stringify({ ...schema, additionalProperties: undefined })
}

/**
 * Adds a discriminator to each choice between components that a field with a constant tells apart: `type` of events, `on` of
 * faults.
 */
function withDiscriminators(schemas: Record<string, Json>): Record<string, Json> {
  const constantsOf = (ref: string): [field: string, value: string][] => {
    const { properties = {} } = (schemas[nameOf(ref)] ?? {}) as { properties?: Record<string, Json> }
    return Object.entries(properties).flatMap(([field, { const: value }]) =>
      typeof value === 'string' ? [[field, value] as [string, string]] : [],
    )
  }
  const context = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return
    Object.values(value).forEach(context)
    const { oneOf } = value as { oneOf?: { $ref?: string }[] }
    const refs = oneOf?.map(({ $ref = '' }) => $ref) ?? []
    const [field] = constantsOf(refs[0] ?? '').map(([name]) => name)
    if (field === undefined) return
    const mapping = refs.map((ref) => [constantsOf(ref).find(([name]) => name === field)?.[1] ?? '', ref])
    Object.assign(value, {
      discriminator: { propertyName: field, mapping: Object.fromEntries(mapping) as Json },
    })
  }
  context(schemas)
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
