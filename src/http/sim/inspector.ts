import { viewCheck } from '../../model/check.ts'
import { viewClaim } from '../../model/guests/claim.ts'
import type { ChecksQuery, ClaimsQuery, SimPageQuery } from '../../model/simulator/list-queries.ts'
import { viewEndpoint, type WebhookEndpoint } from '../../model/webhook-endpoint.ts'
import { listOf, simPaging } from '../list.ts'
import { listDoc } from '../openapi/operation.ts'
import { choiceOf, given } from '../query.ts'
import type { Call, Documented, QueryOf } from '../route.ts'
import { ping, showCheck, type V1Parts } from '../v1/routes.ts'

const apart = 'Same as under `/v1`, without request log, faults and rate limits.'

/**
 * Routes for the inspector with the records of `/v1`. Its requests are not logged, get no faults, and do not count towards
 * the rate limit of the integration under test.
 */
export function inspectorRoutes(parts: Pick<V1Parts, 'service' | 'deliverNow'>): Documented[] {
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
        description: apart,
        of: 'Check',
      }),
      handle: (call) =>
        listOf(service, 'checks', call, checkFilter(call), viewCheck, ['id', 'external_id', 'table.number']),
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
        description: apart,
        answers: { 200: { description: 'The check.', schema: 'Check' } },
        errors: ['NotFound'],
      },
      handle: (call) => showCheck(service, call),
    },
    {
      method: 'GET',
      path: '/claims',
      scope: 'simulate',
      query: { external_check_id: 'external_check_id', ...simPaging } satisfies QueryOf<
        ClaimsQuery & SimPageQuery
      >,
      doc: listDoc({
        id: 'listInspectorClaims',
        tag: 'Simulator inspector',
        internal: true,
        summary: 'List claims for the inspector',
        description: apart,
        of: 'Claim',
      }),
      handle: (call) => listOf(service, 'claims', call, ofCheck(call), viewClaim, []),
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
        description: `${apart} Adds the number of consecutive failures.`,
        of: 'EndpointHealth',
      }),
      handle: (call) => listOf(service, 'endpoints', call, endpointFilter(call), viewHealth, ['id', 'url']),
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
        description: apart,
        answers: { 200: { description: 'The result of the ping.', schema: 'PingReport' } },
        errors: ['NotFound', 'EndpointDisabled'],
      },
      handle: (call) => ping(parts, call),
    },
  ]
}

/** Returns an endpoint with its number of consecutive failures. */
function viewHealth(endpoint: WebhookEndpoint) {
  return { ...viewEndpoint(endpoint), consecutive_failures: endpoint.consecutive_failures }
}

function checkFilter({ key, query }: Call): Record<string, string> {
  const status = choiceOf(query, 'status', ['open', 'closed'])
  return given({ location_id: key.location_id, status, 'table.number': query.get('table') })
}

function ofCheck({ key, query }: Call): Record<string, string> {
  return given({ location_id: key.location_id, external_check_id: query.get('external_check_id') })
}

function endpointFilter({ key, query }: Call): Record<string, string> {
  return given({ location_id: key.location_id, status: choiceOf(query, 'status', ['enabled', 'disabled']) })
}
