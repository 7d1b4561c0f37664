import { accountOf } from '../../account/account.ts'
import { viewApiKey } from '../../model/api-key.ts'
import { createKeyBody } from '../../model/simulator/bodies.ts'
import { viewEvent } from '../../model/event-view.ts'
import { Refusal } from '../../model/refusal.ts'
import { KEPT_REQUESTS_TEXT } from '../../model/simulator/request-entry.ts'
import type { EventsQuery, KeysQuery, RequestsQuery } from '../../model/simulator/list-queries.ts'
import { chosenSecretBody, viewEndpoint } from '../../model/webhook-endpoint.ts'
import { createKey, revokeKey } from '../../operations/keys.ts'
import { deleteEndpoint } from '../../operations/endpoints.ts'
import type { Service } from '../../service.ts'
import type { Table } from '../../table-address.ts'
import { hashOf } from '../auth/api-key.ts'
import {
  keptUpToLimit,
  listOf,
  pageReply,
  simPaging,
  definedFields,
  isWithin,
  orderOf,
  pageQueryOf,
  timeIn,
  timeRangeOf,
  typeIn,
} from '../list.ts'
import { listDoc } from '../openapi/operation.ts'
import { requestFilter } from '../request-log/query.ts'
import { created, ok, withBody, type Call, type Documented, type QueryOf } from '../route.ts'
import type { Stream } from '../stream/stream.ts'
import { registration, endpointAddress, type V1Parts } from '../v1/routes.ts'
import { bundleRoute, isAllClosed, type BundleParts } from './bundle.ts'
import { type ClockParts, clockRoutes, type FaultParts, faultRoutes } from './controls.ts'
import { deliveryRoutes, resendPlanRoute } from './deliveries.ts'
import { guestRoutes } from './guests.ts'
import { offerRoute, type OfferParts } from './offers.ts'
import { monitoringRoutes, type MonitoringParts } from './monitoring.ts'
import { sentRequestRoute } from './sent-request.ts'
import { stateRoutes, type StateParts } from './state.ts'
import { inspectorRoutes, tableQrRoute } from './inspector.ts'
import { sessionRoutes, type SessionRouteParts } from './sessions.ts'

export interface SimParts extends ClockParts, FaultParts, OfferParts, StateParts, SessionRouteParts, V1Parts {
  service: Service
  stream: Stream
  newApiKey: () => string
  /** Returns the URL of a table's guest page. */
  tableUrl: (table: Table) => string
  /** Data about this process for `/_sim/health`. */
  health: () => object
  /** Readiness and metrics. */
  monitoring: MonitoringParts
  /** Parts of bundles that no other route has. */
  bundle: Pick<BundleParts, 'clockNow' | 'program' | 'settings' | 'apiKey'>
}

/** Routes of the simulator and its inspector, besides the routes of the specification (contract section 10). */
export function simRoutes(parts: SimParts): Documented[] {
  const { service, log, stream } = parts
  return [
    {
      method: 'GET',
      path: '/health',
      scope: null,
      doc: {
        id: 'getHealth',
        tag: 'Simulator state',
        summary: 'Check the health of the service',
        description: 'Answers while the process runs, also when the database does not: for liveness probes.',
        answers: { 200: { description: 'The service is running.', schema: 'Health' } },
      },
      whileStopping: true,
      handle: () => ok({ status: 'ok', ...parts.health() }),
    },
    ...monitoringRoutes(parts.monitoring),
    resendPlanRoute(service),
    ...deliveryRoutes(service),
    sentRequestRoute(parts),
    offerRoute(parts),
    ...clockRoutes(parts),
    ...faultRoutes(parts),
    ...stateRoutes(parts),
    bundleRoute({ service, log, faultsNow: () => parts.faults.show(), ...parts.bundle }),
    ...guestRoutes(service),
    {
      method: 'GET',
      path: '/tables/:number',
      scope: 'simulate',
      doc: {
        id: 'getTableAddress',
        tag: 'Simulator access',
        summary: 'Retrieve the address of a guest page',
        answers: {
          200: {
            description: 'The URL that the QR code of the table opens.',
            schema: 'TableAddress',
          },
        },
      },
      handle({ key: { location_id }, params }) {
        const number = tableNumber(params.number ?? '')
        return ok({ number, location_id, url: parts.tableUrl({ location_id, number }) })
      },
    },
    tableQrRoute((location_id, number) => parts.tableUrl({ location_id, number: tableNumber(number) })),
    {
      method: 'GET',
      path: '/events',
      scope: 'simulate',
      query: {
        q: 'q',
        type: 'type',
        external_check_id: 'external_check_id',
        from: 'from.events',
        to: 'to.events',
        ...simPaging,
      } satisfies QueryOf<EventsQuery>,
      doc: listDoc({
        id: 'listEvents',
        tag: 'Simulator events',
        summary: 'List events',
        of: 'Event',
      }),
      handle(call) {
        const range = timeRangeOf(call.query)
        return listOf(service, 'events', call, {
          where: eventFilter(call),
          view: viewEvent,
          searched: searchedInEvents,
          only: (event) => isWithin(range, event.created_at),
        })
      },
    },
    {
      method: 'GET',
      path: '/events/:id',
      scope: 'simulate',
      doc: {
        id: 'getEvent',
        tag: 'Simulator events',
        summary: 'Retrieve an event',
        description: 'Returns an event. `--keep-events` limits how many finished events are kept.',
        answers: {
          200: {
            description: 'The envelope, and `body`, the exact text that is signed and sent.',
            schema: 'Event',
          },
        },
        errors: ['NotFound'],
      },
      handle: async ({ params }) =>
        ok(viewEvent(keptUpToLimit(await service.get('events', params.id ?? ''), 'event'))),
    },
    {
      method: 'GET',
      path: '/requests',
      scope: 'simulate',
      query: {
        q: 'q',
        kind: 'kind',
        failed: 'failed',
        outcome: 'outcome.push',
        finding: 'finding',
        external_check_id: 'external_check_id',
        from: 'from.requests',
        to: 'to.requests',
        ...simPaging,
      } satisfies QueryOf<RequestsQuery>,
      doc: listDoc({
        id: 'listRequests',
        tag: 'Simulator requests',
        summary: 'List requests',
        of: 'LoggedRequest',
      }),
      handle: async ({ query }) => {
        await log.bringUpToDate()
        return pageReply(
          log.list({ order: orderOf(query), ...pageQueryOf(query, 'requests'), only: requestFilter(query) }),
          (request) => request,
        )
      },
    },
    {
      method: 'GET',
      path: '/requests/:id',
      scope: 'simulate',
      doc: {
        id: 'getRequest',
        tag: 'Simulator requests',
        summary: 'Retrieve a request',
        description: `Returns a logged request by its X-Request-Id. ${KEPT_REQUESTS_TEXT}`,
        answers: {
          200: {
            description: 'The request, with the outcome of a push and its findings.',
            schema: 'LoggedRequest',
          },
        },
        errors: ['NotFound'],
      },
      async handle({ params }) {
        await log.bringUpToDate()
        const request = log.get(params.id ?? '')
        if (request !== undefined) return ok(request)
        throw new Refusal('not_found', `No request with this id. ${KEPT_REQUESTS_TEXT}`)
      },
    },
    {
      method: 'GET',
      path: '/report',
      scope: 'simulate',
      query: { since: 'since.report' },
      doc: {
        id: 'getReport',
        tag: 'Simulator requests',
        summary: 'Report findings',
        answers: { 200: { description: 'The findings, with examples of requests.', schema: 'Report' } },
      },
      async handle({ query }) {
        const since = timeIn(query, 'since')
        await log.bringUpToDate()
        return ok(log.report(since))
      },
    },
    {
      method: 'GET',
      path: '/account',
      scope: 'simulate',
      query: { all_closed: 'all_closed' },
      doc: {
        id: 'getAccount',
        tag: 'Simulator requests',
        summary: 'Retrieve the account',
        description:
          "Returns the amounts of each check of the key's location, and everything that does not add up between pushes, payments and deliveries.",
        answers: {
          200: { description: 'The checks, their sums and the problems, oldest first.', schema: 'Account' },
        },
      },
      async handle({ key, query }) {
        const allClosed = isAllClosed(query)
        const { location_id: id } = key
        await log.bringUpToDate()
        const location = (await service.get('locations', id)) ?? { id, currency: '' }
        return ok(accountOf({ location, records: await service.everything(), ...log.accounted(), allClosed }))
      },
    },
    {
      method: 'GET',
      path: '/stream',
      scope: 'simulate',
      query: { since: 'since.stream', listener: 'listener' },
      doc: {
        id: 'streamEvents',
        tag: 'Simulator events',
        summary: 'Stream requests, events and attempts',
        headers: ['Last-Event-ID'],
        description:
          'Sends server-sent events `request`, `event`, `attempt`, `delivery` and `reset` with JSON data. A client more than 4 MiB behind misses messages. The event `dropped` then has their `count`. With `listener`, also sends `offer` for each attempt that this listener must forward.',
        answers: {
          200: { description: 'The stream.', type: 'text/event-stream', headers: ['Cache-Control'] },
        },
      },
      handle: (call) =>
        stream.open({
          since: timeIn(call.query, 'since'),
          lastEventId: call.header('last-event-id'),
          listener: call.query.get('listener') ?? undefined,
          keyId: call.key.id,
        }),
    },
    {
      method: 'POST',
      path: '/webhook-endpoints',
      scope: 'simulate',
      ...registration(parts, chosenSecretBody),
      doc: {
        id: 'registerWebhookEndpointWithSecret',
        tag: 'Simulator access',
        summary: 'Register a webhook endpoint with a chosen secret',
        answers: {
          201: { description: 'The endpoint, with its signing secret.', schema: 'RegisteredWebhookEndpoint' },
        },
      },
    },
    {
      method: 'DELETE',
      path: '/webhook-endpoints/:id',
      scope: 'simulate',
      doc: {
        id: 'deleteWebhookEndpoint',
        tag: 'Simulator access',
        summary: 'Delete a webhook endpoint',
        answers: { 200: { description: 'The deleted endpoint.', schema: 'WebhookEndpoint' } },
        errors: ['NotFound'],
      },
      handle: async (call) => ok(viewEndpoint(await service.execute(deleteEndpoint, endpointAddress(call)))),
    },
    {
      method: 'GET',
      path: '/keys',
      scope: 'simulate',
      keyOnly: true,
      query: simPaging satisfies QueryOf<KeysQuery>,
      doc: listDoc({
        id: 'listKeys',
        tag: 'Simulator access',
        summary: 'List API keys',
        of: 'ApiKey',
      }),
      handle: (call) => listOf(service, 'keys', call, { view: viewApiKey, searched: [] }),
    },
    {
      method: 'POST',
      path: '/keys',
      scope: 'simulate',
      keyOnly: true,
      ...withBody(createKeyBody, async ({ location_id, ...body }, { key }) => {
        const api_key = parts.newApiKey()
        const command = { ...body, location_id: location_id ?? key.location_id, hash: hashOf(api_key) }
        return created({ ...viewApiKey(await service.execute(createKey, command)), api_key })
      }),
      doc: {
        id: 'createKey',
        tag: 'Simulator access',
        summary: 'Create an API key',
        answers: { 201: { description: 'The API key, which is shown only once.', schema: 'CreatedApiKey' } },
      },
    },
    {
      method: 'DELETE',
      path: '/keys/:id',
      scope: 'simulate',
      keyOnly: true,
      doc: {
        id: 'revokeKey',
        tag: 'Simulator access',
        summary: 'Revoke an API key',
        answers: { 200: { description: 'The revoked key.', schema: 'ApiKey' } },
        errors: ['NotFound'],
      },
      handle: async ({ params }) =>
        ok(viewApiKey(await service.execute(revokeKey, { key_id: params.id ?? '' }))),
    },
    ...inspectorRoutes(parts),
    ...sessionRoutes(parts),
  ]
}

/** Fields that `?q=` searches in events. */
const searchedInEvents = ['id', 'type', 'external_check_id', 'body']

function eventFilter({ query }: Call): Record<string, string> {
  return definedFields({ type: typeIn(query), external_check_id: query.get('external_check_id') })
}

/** @throws Refusal `invalid_path` for an invalid table number (contract section 5). */
function tableNumber(number: string): string {
  const length = Array.from(number).length
  if (length >= 1 && length <= 64) return number
  throw new Refusal('invalid_path', 'The table number must have 1 to 64 characters.')
}
