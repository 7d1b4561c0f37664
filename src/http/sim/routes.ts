import { createKeyBody, viewApiKey } from '../../model/api-key.ts'
import { viewEvent } from '../../model/event-view.ts'
import { queryNames } from '../../model/simulator/list-queries.ts'
import { Refusal } from '../../model/refusal.ts'
import { validate } from '../../model/validation.ts'
import { chosenSecretBody, viewEndpoint } from '../../model/webhook-endpoint.ts'
import { createKey } from '../../operations/create-key.ts'
import { deleteEndpoint } from '../../operations/delete-endpoint.ts'
import { revokeKey } from '../../operations/revoke-key.ts'
import type { Service } from '../../service.ts'
import { hashOf } from '../auth/api-key.ts'
import { clockRoutes, type ClockParts } from './clock.ts'
import { faultRoutes, type FaultParts } from './faults.ts'
import { deliveryRoutes } from './deliveries.ts'
import { guestRoutes } from './guests.ts'
import { created, ok, type Call, type Reply, type Route, simulatorRow } from '../route.ts'
import { listOf, pageReply } from '../list.ts'
import { requestFilter } from '../request-log/query.ts'
import { given, orderOf, pageOf, timeOf } from '../query.ts'
import { register, type RegistrationParts } from '../v1/endpoints.ts'
import type { RequestLog } from '../request-log/log.ts'
import { stateRoutes, type StateParts } from './state.ts'
import type { Stream } from '../stream/stream.ts'
import { endpointAddress } from '../v1/routes.ts'
import type { Table } from '../../table-address.ts'

export interface SimParts
  extends ClockParts, FaultParts, StateParts, TableAddressParts, Pick<RegistrationParts, 'judgeDestination'> {
  service: Service
  log: RequestLog
  stream: Stream
  newApiKey: () => string
  /** What `/_sim/health` tells of this process. */
  health: () => object
}

/** What only a simulator can offer, apart from the specification's routes (contract section 10). */
export function simRoutes(parts: SimParts): Route[] {
  const { service, log, stream } = parts
  return [
    { method: 'GET', path: '/health', scope: null, handle: () => ok({ status: 'ok', ...parts.health() }) },
    ...deliveryRoutes(service),
    ...clockRoutes(parts),
    ...faultRoutes(parts),
    ...stateRoutes(parts),
    ...guestRoutes(service),
    tableAddressRoute(parts),
    simulatorRow(
      'GET',
      '/events',
      (call) => listOf(service, 'events', call, eventFilter(call), viewEvent, searchedInEvents),
      queryNames.events,
    ),
    simulatorRow('GET', '/events/:id', async ({ params }) =>
      ok(viewEvent(found(await service.get('events', params.id ?? ''), 'event'))),
    ),
    simulatorRow(
      'GET',
      '/requests',
      ({ query }) =>
        pageReply(
          log.list({ order: orderOf(query), ...pageOf(query), only: requestFilter(query) }),
          (request) => request,
        ),
      queryNames.requests,
    ),
    simulatorRow('GET', '/requests/:id', ({ params }) => ok(found(log.get(params.id ?? ''), 'request'))),
    simulatorRow('GET', '/report', ({ query }) => ok(log.report(timeOf(query, 'since'))), queryNames.since),
    simulatorRow('GET', '/stream', ({ query }) => stream.open(timeOf(query, 'since')), queryNames.since),
    {
      ...simulatorRow('POST', '/webhook-endpoints', (call) => register(parts, call, chosenSecretBody)),
      secret: true,
    },
    simulatorRow('DELETE', '/webhook-endpoints/:id', async (call) =>
      ok(viewEndpoint(await service.execute(deleteEndpoint, endpointAddress(call)))),
    ),
    {
      ...simulatorRow(
        'GET',
        '/keys',
        (call) => listOf(service, 'keys', call, {}, viewApiKey, []),
        queryNames.keys,
      ),
      keyOnly: true,
    },
    { ...simulatorRow('POST', '/keys', (call) => makeKey(parts, call)), secret: true, keyOnly: true },
    {
      ...simulatorRow('DELETE', '/keys/:id', async ({ params }) =>
        ok(viewApiKey(await service.execute(revokeKey, { key_id: params.id ?? '' }))),
      ),
      keyOnly: true,
    },
  ]
}

/** Where `?q=` is looked for in events. */
const searchedInEvents = ['id', 'type', 'external_check_id', 'body']

function found<T>(record: T | undefined, noun: string): T {
  if (record === undefined)
    throw new Refusal(
      'not_found',
      `There is no such ${noun}, or no more: finished ones are kept up to a limit.`,
    )
  return record
}

function eventFilter({ query }: Call): Record<string, string> {
  return given({ type: query.get('type'), external_check_id: query.get('external_check_id') })
}

async function makeKey({ service, newApiKey }: SimParts, call: Call): Promise<Reply> {
  const { location_id = call.key.location_id, ...body } = validate(createKeyBody, await call.body())
  const key = newApiKey()
  const made = await service.execute(createKey, { ...body, location_id, hash: hashOf(key) })
  return created({ ...viewApiKey(made), api_key: key })
}

export interface TableAddressParts {
  /** The whole URL of a table's page, as a guest's phone can open it. */
  tableUrl: (table: Table) => string
}

/** `GET /_sim/tables/{number}`: where the page of a table is, whether or not a check was pushed for it (contract section 7). */
export function tableAddressRoute(parts: TableAddressParts): Route {
  return {
    method: 'GET',
    path: '/tables/:number',
    scope: 'simulate',
    handle({ key: { location_id }, params }) {
      const number = tableNumber(params.number ?? '')
      return ok({ number, location_id, url: parts.tableUrl({ location_id, number }) })
    },
  }
}

/** @throws Refusal `invalid_path` for what no check could name as its table (contract section 5). */
function tableNumber(number: string): string {
  const length = Array.from(number).length
  if (length >= 1 && length <= 64) return number
  throw new Refusal('invalid_path', 'The number of a table must be 1 to 64 characters long.')
}
