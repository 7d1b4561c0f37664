import { checkKey, viewCheck } from '../../model/check.ts'
import type { Delivery } from '../../model/delivery.ts'
import type { PingReport } from '../../model/ping-report.ts'
import { registerEndpointBody, viewEndpoint } from '../../model/webhook-endpoint.ts'
import { foundEndpoint, type EndpointAddress } from '../../operations/delete-endpoint.ts'
import { checkNotFound } from '../../operations/guest-change.ts'
import { pingEndpoint } from '../../operations/ping-endpoint.ts'
import type { Service } from '../../service.ts'
import { guestRecordRoutes } from './guest-records.ts'
import { ok, type Call, type Route } from '../route.ts'
import { listOf } from '../list.ts'
import { acceptPush } from './push.ts'
import { choiceOf, externalId, given } from '../query.ts'
import { register, type RegistrationParts } from './endpoints.ts'
import type { RequestLog } from '../request-log/log.ts'

export interface V1Parts extends RegistrationParts {
  service: Service
  log: RequestLog
  /** Refuse pushes with unknown fields. */
  strict: boolean
  /** The field that orders pushes (contract section 6, rule 1). */
  orderBy: string
  /** Attempts a delivery at once and answers with what came of it. */
  deliverNow: (deliveryId: string) => Promise<Delivery>
}

/** The specification's section 4, row by row, with the readings of contract section 4. */
export function v1Routes(parts: V1Parts): Route[] {
  const { service } = parts
  return [
    {
      method: 'GET',
      path: '/locations',
      scope: 'read',
      handle: (call) => listOf(service, 'locations', call),
    },
    { method: 'GET', path: '/checks', scope: 'read', handle: (call) => listChecks(service, call) },
    {
      method: 'PUT',
      path: '/checks/external/:external_check_id',
      scope: 'write',
      handle: (call) => acceptPush(parts, call),
    },
    {
      method: 'GET',
      path: '/checks/external/:external_check_id',
      scope: 'read',
      handle: (call) => showCheck(service, call),
    },
    ...guestRecordRoutes(service),
    {
      method: 'POST',
      path: '/webhook-endpoints',
      scope: 'write',
      secret: true,
      handle: (call) => register(parts, call, registerEndpointBody),
    },
    {
      method: 'GET',
      path: '/webhook-endpoints',
      scope: 'read',
      handle: (call) =>
        listOf(service, 'endpoints', call, { location_id: call.key.location_id }, viewEndpoint),
    },
    {
      method: 'GET',
      path: '/webhook-endpoints/:id',
      scope: 'read',
      handle: (call) => showEndpoint(service, call),
    },
    {
      method: 'POST',
      path: '/webhook-endpoints/:id/test',
      scope: 'write',
      handle: (call) => ping(parts, call),
    },
  ]
}

function listChecks(service: Service, call: Call) {
  const status = choiceOf(call.query, 'status', ['open', 'closed'])
  const where = given({ location_id: call.key.location_id, status, 'table.number': call.query.get('table') })
  return listOf(service, 'checks', call, where, viewCheck)
}

/** The check that the path names, at the key's location. */
export async function showCheck(service: Service, { key, params }: Call) {
  const external_id = externalId(params.external_check_id ?? '')
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

/** The endpoint that the path names, at the key's location. */
export function endpointAddress({ key, params }: Call): EndpointAddress {
  return { endpoint_id: params.id ?? '', location_id: key.location_id }
}

/** Pings an endpoint and tells what came of it (contract section 9). */
export async function ping({ service, deliverNow }: Pick<V1Parts, 'service' | 'deliverNow'>, call: Call) {
  const pinged = await service.execute(pingEndpoint, endpointAddress(call))
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
