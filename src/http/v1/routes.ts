import type { ZodType } from 'zod'
import { checkKey, checkStatuses, pushBody, viewCheck } from '../../model/check.ts'
import type { Delivery } from '../../model/delivery.ts'
import {
  type PingReport,
  registerEndpointBody,
  viewEndpoint,
  type ChosenSecretBody,
} from '../../model/webhook-endpoint.ts'
import type { ChecksQuery, EndpointsQuery, LocationsQuery } from '../../model/simulator/list-queries.ts'
import {
  type EndpointAddress,
  foundEndpoint,
  pingEndpoint,
  registerEndpoint,
} from '../../operations/endpoints.ts'
import { checkNotFound } from '../../operations/guest-change.ts'
import type { Service } from '../../service.ts'
import { listOf, paging, choiceOf, definedFields } from '../list.ts'
import { listDoc } from '../openapi/operation.ts'
import { traceParameters } from '../openapi/parameters.ts'
import type { RequestLog } from '../request-log/log.ts'
import { ok, type Call, type Documented, type QueryOf, created, type Route } from '../route.ts'
import { guestRecordRoutes } from './guest-records.ts'
import { acceptPush } from './push.ts'
import { isObject, validate } from '../../model/validation.ts'

export interface V1Parts extends RegistrationParts {
  service: Service
  log: RequestLog
  /** The service's time. */
  time: { now(): Date }
  /** Refuse pushes with unknown fields. */
  strict: boolean
  /** The field that orders pushes (contract section 6, rule 1). */
  orderBy: string
  /** Attempts a delivery at once and returns it with the outcome. */
  deliverNow: (deliveryId: string) => Promise<Delivery>
}

/** The specification's section 4, row by row, with the readings of contract section 4. */
export function v1Routes(parts: V1Parts): Documented[] {
  const { service } = parts
  return [
    {
      method: 'GET',
      path: '/locations',
      scope: 'read',
      query: paging satisfies QueryOf<LocationsQuery>,
      doc: listDoc({
        id: 'listLocations',
        tag: 'Locations',
        summary: "List the restaurant's locations",
        of: 'Location',
      }),
      handle: (call) => listOf(service, 'locations', call),
    },
    {
      method: 'GET',
      path: '/checks',
      scope: 'read',
      query: { status: 'status.check', table: 'table', ...paging } satisfies QueryOf<ChecksQuery>,
      doc: listDoc({
        id: 'listChecks',
        tag: 'Checks',
        summary: 'List checks',
        description: "Lists the checks at the key's location.",
        of: 'Check',
      }),
      handle: (call) => listOf(service, 'checks', call, { where: checkFilter(call), view: viewCheck }),
    },
    {
      method: 'PUT',
      path: '/checks/external/:external_check_id',
      scope: 'write',
      // Validated in `acceptPush`, because strict mode and the ordering field are options.
      body: pushBody,
      doc: {
        id: 'pushCheck',
        tag: 'Checks',
        summary: 'Push the current state of a check',
        description:
          'Creates or replaces a check. The body is the complete current state, never a delta. Items are matched by `external_id`. A replay changes nothing. With `revision`, or the field of `start --order-by`, pushes that arrive out of order converge. Claimed items cannot be removed, reduced below the claimed quantity or made cheaper. On a fully paid check, no item can (specification section 4, rules 1 to 4). Unknown fields are ignored, or refused in strict mode.',
        headers: traceParameters,
        answers: {
          200: {
            description: 'The check, updated by the push or unchanged after a replay or a stale push.',
            schema: 'Check',
          },
          201: { description: 'The created check.', schema: 'Check' },
        },
        errors: ['PaidItemsConflict'],
      },
      handle: (call) => acceptPush(parts, call),
    },
    {
      method: 'GET',
      path: '/checks/external/:external_check_id',
      scope: 'read',
      doc: {
        id: 'getCheck',
        tag: 'Checks',
        summary: 'Retrieve a check',
        description: 'Returns the check in the form of the `data` of `check.*` events.',
        answers: { 200: { description: 'The check.', schema: 'Check' } },
        errors: ['NotFound'],
      },
      handle: (call) => showCheck(service, call),
    },
    ...guestRecordRoutes(service),
    {
      method: 'POST',
      path: '/webhook-endpoints',
      scope: 'write',
      hidesResponse: true,
      ...registration(parts, registerEndpointBody),
      doc: {
        id: 'registerWebhookEndpoint',
        tag: 'Webhook endpoints',
        summary: 'Register a webhook endpoint',
        description:
          'Sends future events of these types to the URL. They are events of the location of the key. No later response under /v1 contains the signing secret (specification section 2).',
        answers: {
          201: { description: 'The endpoint, with its signing secret.', schema: 'RegisteredWebhookEndpoint' },
        },
      },
    },
    {
      method: 'GET',
      path: '/webhook-endpoints',
      scope: 'read',
      query: paging satisfies QueryOf<EndpointsQuery>,
      doc: listDoc({
        id: 'listWebhookEndpoints',
        tag: 'Webhook endpoints',
        summary: 'List webhook endpoints',
        description: "Lists the endpoints of the key's location.",
        of: 'WebhookEndpoint',
      }),
      handle: (call) =>
        listOf(service, 'endpoints', call, {
          where: { location_id: call.key.location_id },
          view: viewEndpoint,
        }),
    },
    {
      method: 'GET',
      path: '/webhook-endpoints/:id',
      scope: 'read',
      doc: {
        id: 'getWebhookEndpoint',
        tag: 'Webhook endpoints',
        summary: 'Retrieve a webhook endpoint',
        description: "Returns an endpoint of the key's location.",
        answers: { 200: { description: 'The endpoint, without its secret.', schema: 'WebhookEndpoint' } },
        errors: ['NotFound'],
      },
      handle: (call) => showEndpoint(service, call),
    },
    {
      method: 'POST',
      path: '/webhook-endpoints/:id/test',
      scope: 'write',
      doc: {
        id: 'pingWebhookEndpoint',
        tag: 'Webhook endpoints',
        summary: 'Ping a webhook endpoint',
        description: 'Sends one signed ping at once, without retries. The status is 200 whatever the result.',
        headers: traceParameters,
        answers: { 200: { description: 'The result of the ping.', schema: 'PingReport' } },
        errors: ['NotFound', 'EndpointDisabled'],
      },
      handle: (call) => ping(parts, call),
    },
  ]
}

/** Reads `?status=` and `?table=`, at the key's location. */
export function checkFilter({ key, query }: Call): Record<string, string> {
  const status = choiceOf(query, 'status', checkStatuses)
  return definedFields({ location_id: key.location_id, status, 'table.number': query.get('table') })
}

/** Returns the check of the path at the key's location. */
export async function showCheck(service: Service, { key, params }: Call) {
  const { external_check_id: external_id = '' } = params
  const [check] = await service.find(
    'checks',
    'external',
    checkKey({ location_id: key.location_id, external_id }),
  )
  if (check === undefined) throw checkNotFound(external_id)
  return ok(viewCheck(check))
}

async function showEndpoint(service: Service, call: Call) {
  const address = endpointAddress(call)
  return ok(viewEndpoint(foundEndpoint(await service.get('endpoints', address.endpoint_id), address)))
}

/** Returns the endpoint of the path at the key's location. */
export function endpointAddress({ key, params }: Call): EndpointAddress {
  return { endpoint_id: params.id ?? '', location_id: key.location_id }
}

/** Pings an endpoint and answers with the outcome (contract section 9). */
export async function ping({ service, deliverNow }: Pick<V1Parts, 'service' | 'deliverNow'>, call: Call) {
  const pinged = await service.execute(pingEndpoint, endpointAddress(call), call.trace)
  const { id, event_id, attempts } = await deliverNow(pinged.id)
  const attempt = attempts.at(-1)
  return ok({
    delivery_id: id,
    event_id,
    outcome: attempt?.outcome ?? null,
    response_status: attempt?.response_status ?? null,
    duration_ms: attempt?.duration_ms ?? null,
    error: attempt?.error ?? null,
  } satisfies PingReport)
}

export interface RegistrationParts {
  service: Pick<Service, 'execute'>
  /** Validates a URL (contract section 9): returns its normal form, or why it cannot be registered. */
  judgeDestination: (url: string) => Promise<{ url: string } | { reason: string }>
}

/**
 * Returns body and handler of a route that registers an endpoint and returns its signing secret, which no later response
 * under `/v1` contains.
 */
export function registration(
  { service, judgeDestination }: RegistrationParts,
  body: ZodType<ChosenSecretBody>,
): Pick<Route, 'body' | 'handle'> {
  return {
    body,
    async handle(call) {
      const given = await call.body()
      const { data: url } = registerEndpointBody.shape.url.safeParse(isObject(given) && given.url)
      const judged = url === undefined ? undefined : await judgeDestination(url)
      const reason = judged !== undefined && 'reason' in judged ? judged.reason : undefined
      // All issues at once (contract section 4).
      const valid = validate(body, given, reason === undefined ? [] : [{ path: 'url', message: reason }])
      const { location_id } = call.key
      const endpoint = await service.execute(registerEndpoint, { ...valid, ...judged, location_id })
      return created({ ...viewEndpoint(endpoint), signing_secret: endpoint.signing_secret })
    },
  }
}
