import { pushBody, viewCheck } from '../../model/check.ts'
import type { Delivery } from '../../model/delivery.ts'
import { viewClaim, viewFeedback, viewPayment } from '../../model/guests/records.ts'
import { healthOf, RECENT, type RecentDeliveries } from '../../model/simulator/activity.ts'
import type { ChecksQuery, ClaimsQuery, SimPageQuery } from '../../model/simulator/list-queries.ts'
import { endpointStatuses, viewEndpoint, type WebhookEndpoint } from '../../model/webhook-endpoint.ts'
import { foundEndpoint } from '../../operations/endpoints.ts'
import type { Service } from '../../service.ts'
import {
  deliveriesInBatches,
  listOf,
  pageReply,
  simPaging,
  choiceOf,
  definedFields,
  orderOf,
  pageQueryOf,
  searchIn,
} from '../list.ts'
import { listDoc } from '../openapi/operation.ts'
import { ok, type Call, type Documented, type QueryOf, type Reply } from '../route.ts'
import { ofCheckFilter } from '../v1/guest-records.ts'
import { acceptPush } from '../v1/push.ts'
import { checkFilter, endpointAddress, ping, showCheck, type V1Parts } from '../v1/routes.ts'

const sameAsV1 = 'Same as under `/v1`, without request log, faults and rate limits.'

/**
 * Routes for the inspector with the records of `/v1`. Its requests are not logged, get no faults, and do not count towards
 * the rate limit of the integration under test.
 */
export function inspectorRoutes(parts: Omit<V1Parts, 'judgeDestination'>): Documented[] {
  const { service } = parts
  return [
    {
      method: 'GET',
      path: '/checks',
      scope: 'simulate',
      query: { q: 'q', status: 'status.check', table: 'table', ...simPaging } satisfies QueryOf<
        ChecksQuery & SimPageQuery & { q?: string }
      >,
      doc: listDoc({
        id: 'listInspectorChecks',
        tag: 'Simulator inspector',
        internal: true,
        summary: 'List checks for the inspector',
        description: sameAsV1,
        of: 'Check',
      }),
      handle: (call) =>
        listOf(service, 'checks', call, {
          where: checkFilter(call),
          view: viewCheck,
          searched: ['id', 'external_id', 'table.number'],
        }),
    },
    {
      method: 'GET',
      path: '/checks/:external_check_id',
      scope: 'simulate',
      doc: {
        id: 'getInspectorCheck',
        tag: 'Simulator inspector',
        internal: true,
        summary: 'Retrieve a check for the inspector',
        description: sameAsV1,
        answers: { 200: { description: 'The check.', schema: 'Check' } },
        errors: ['NotFound'],
      },
      handle: (call) => showCheck(service, call),
    },
    {
      method: 'PUT',
      path: '/checks/:external_check_id',
      scope: 'simulate',
      // Validated in `acceptPush`, because strict mode and the ordering field are options.
      body: pushBody,
      doc: {
        id: 'pushInspectorCheck',
        tag: 'Simulator inspector',
        internal: true,
        summary: 'Push a check from the inspector',
        description: sameAsV1,
        answers: {
          200: { description: 'The check.', schema: 'Check' },
          201: { description: 'The created check.', schema: 'Check' },
        },
        errors: ['PaidItemsConflict'],
      },
      handle: (call) => acceptPush(parts, call, { isLogged: false }),
    },
    {
      method: 'GET',
      path: '/payments',
      scope: 'simulate',
      query: ofCheckQuery,
      doc: listDoc({
        id: 'listInspectorPayments',
        tag: 'Simulator inspector',
        internal: true,
        summary: 'List payments for the inspector',
        description: sameAsV1,
        of: 'Payment',
      }),
      handle: (call) =>
        listOf(service, 'payments', call, { where: ofCheckFilter(call), view: viewPayment, searched: [] }),
    },
    {
      method: 'GET',
      path: '/feedback',
      scope: 'simulate',
      query: ofCheckQuery,
      doc: listDoc({
        id: 'listInspectorFeedback',
        tag: 'Simulator inspector',
        internal: true,
        summary: 'List feedback for the inspector',
        description: sameAsV1,
        of: 'Feedback',
      }),
      handle: (call) =>
        listOf(service, 'feedback', call, { where: ofCheckFilter(call), view: viewFeedback, searched: [] }),
    },
    {
      method: 'GET',
      path: '/claims',
      scope: 'simulate',
      query: ofCheckQuery,
      doc: listDoc({
        id: 'listInspectorClaims',
        tag: 'Simulator inspector',
        internal: true,
        summary: 'List claims for the inspector',
        description: sameAsV1,
        of: 'Claim',
      }),
      handle: (call) =>
        listOf(service, 'claims', call, { where: ofCheckFilter(call), view: viewClaim, searched: [] }),
    },
    {
      method: 'GET',
      path: '/webhook-endpoints',
      scope: 'simulate',
      query: { q: 'q', status: 'status.endpoint', ...simPaging },
      doc: listDoc({
        id: 'listInspectorEndpoints',
        tag: 'Simulator inspector',
        internal: true,
        summary: 'List webhook endpoints for the inspector',
        description: `${sameAsV1} Adds the number of consecutive failures and the outcome of the newest deliveries.`,
        of: 'EndpointHealth',
      }),
      handle: (call) => listEndpoints(service, call),
    },
    {
      method: 'GET',
      path: '/webhook-endpoints/:id',
      scope: 'simulate',
      doc: {
        id: 'getInspectorEndpoint',
        tag: 'Simulator inspector',
        internal: true,
        summary: 'Retrieve a webhook endpoint for the inspector',
        description: sameAsV1,
        answers: { 200: { description: 'The endpoint, without its secret.', schema: 'EndpointHealth' } },
        errors: ['NotFound'],
      },
      handle: (call) => showEndpoint(service, call),
    },
    {
      method: 'POST',
      path: '/webhook-endpoints/:id/test',
      scope: 'simulate',
      doc: {
        id: 'pingInspectorEndpoint',
        tag: 'Simulator inspector',
        internal: true,
        summary: 'Ping a webhook endpoint from the inspector',
        description: sameAsV1,
        answers: { 200: { description: 'The result of the ping.', schema: 'PingReport' } },
        errors: ['NotFound', 'EndpointDisabled'],
      },
      handle: (call) => ping(parts, call),
    },
  ]
}

const ofCheckQuery = { external_check_id: 'external_check_id', ...simPaging } as const satisfies QueryOf<
  ClaimsQuery & SimPageQuery
>

async function listEndpoints(service: V1Parts['service'], call: Call): Promise<Reply> {
  const { query } = call
  const page = await service.list('endpoints', {
    where: endpointFilter(call),
    search: searchIn(['id', 'url'], query),
    order: orderOf(query),
    ...pageQueryOf(query, 'endpoints'),
  })
  const data = await healthOfAll(service, page.data, call.gone())
  return pageReply({ data, more: page.more }, (endpoint) => endpoint)
}

async function showEndpoint(service: V1Parts['service'], call: Call): Promise<Reply> {
  const address = endpointAddress(call)
  const endpoint = foundEndpoint(await service.get('endpoints', address.endpoint_id), address)
  const [health] = await healthOfAll(service, [endpoint], call.gone())
  return ok(health)
}

function endpointFilter({ key, query }: Call): Record<string, string> {
  return definedFields({
    location_id: key.location_id,
    status: choiceOf(query, 'status', endpointStatuses),
  })
}

/** The newest deliveries that are read for a list. A page reads the list every 5 s, also with 100,000 deliveries. */
const MOST_READ = 10_000

/** An endpoint with its number of consecutive failures and the outcome of its newest deliveries. */
interface EndpointHealth extends ReturnType<typeof viewEndpoint>, RecentDeliveries {
  consecutive_failures: number
}

/**
 * Returns the health of endpoints from one read of the deliveries, newest first. It ends when each endpoint has enough
 * deliveries, when the caller is gone, and for several endpoints after {@link MOST_READ} deliveries.
 */
export async function healthOfAll(
  service: Pick<Service, 'list'>,
  endpoints: readonly WebhookEndpoint[],
  gone: AbortSignal,
): Promise<EndpointHealth[]> {
  const newest = new Map<string, Delivery[]>(endpoints.map(({ id }) => [id, []]))
  const missing = new Set(newest.keys())
  const [only] = endpoints
  const isOne = endpoints.length === 1 && only !== undefined
  let read = 0
  for await (const batch of deliveriesInBatches(
    service,
    isOne ? { where: { endpoint_id: only.id } } : {},
    gone,
  )) {
    for (const delivery of batch) {
      const found = newest.get(delivery.endpoint_id)
      if (found === undefined || delivery.attempts.length === 0 || found.length === RECENT) continue
      if (found.push(delivery) === RECENT) missing.delete(delivery.endpoint_id)
    }
    read += batch.length
    if (missing.size === 0 || (!isOne && read >= MOST_READ)) break
  }
  return endpoints.map((endpoint) => ({
    ...viewEndpoint(endpoint),
    consecutive_failures: endpoint.consecutive_failures,
    ...healthOf(newest.get(endpoint.id) ?? []),
  }))
}

/** White modules around a QR code, which scanners require. */
const QUIET_ZONE = 4

/** Route with the QR code of a table's guest page. The inspector's page would be 3 kB larger if it encoded them. */
export function tableQrRoute(urlOf: (locationId: string, number: string) => string): Documented {
  return {
    method: 'GET',
    path: '/tables/:number/qr',
    scope: 'simulate',
    doc: {
      id: 'getTableQr',
      tag: 'Simulator inspector',
      internal: true,
      summary: 'Retrieve the QR code of a guest page',
      answers: { 200: { description: 'The address and its QR code.', schema: 'TableQr' } },
    },
    async handle({ key, params }) {
      const url = urlOf(key.location_id, params.number ?? '')
      const { encode } = await import('uqr')
      const { data, size } = encode(url, { ecc: 'M', border: QUIET_ZONE })
      const dark = data.flatMap((line, y) =>
        line.flatMap((isDark, x) => (isDark ? `M${x} ${y}h1v1h-1z` : [])),
      )
      return ok({ url, size, path: dark.join('') })
    },
  }
}
