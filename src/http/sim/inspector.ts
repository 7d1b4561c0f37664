import { viewCheck } from '../../model/check.ts'
import { viewClaim } from '../../model/claim.ts'
import { queryNames } from '../../model/simulator/list-queries.ts'
import type { WebhookEndpoint } from '../../model/webhook-endpoint.ts'
import { viewEndpoint } from '../../model/webhook-endpoint.ts'
import { type Call, type Route, simulatorRow } from '../route.ts'
import { listOf } from '../list.ts'
import { choiceOf, given } from '../query.ts'
import { ping, showCheck, type V1Parts } from '../v1/routes.ts'

/**
 * The records under `/v1` as the inspector reads them: its own requests are in no log, meet no fault, and use up no rate
 * limit of the integration under test.
 */
export function inspectorRoutes(parts: Pick<V1Parts, 'service' | 'deliverNow'>): Route[] {
  const { service } = parts
  return [
    simulatorRow(
      'GET',
      '/checks',
      (call) =>
        listOf(service, 'checks', call, checkFilter(call), viewCheck, ['id', 'external_id', 'table.number']),
      queryNames.checks,
    ),
    simulatorRow('GET', '/checks/:external_check_id', (call) => showCheck(service, call)),
    simulatorRow(
      'GET',
      '/claims',
      (call) => listOf(service, 'claims', call, ofCheck(call), viewClaim, []),
      queryNames.claims,
    ),
    simulatorRow(
      'GET',
      '/webhook-endpoints',
      (call) => listOf(service, 'endpoints', call, endpointFilter(call), viewHealth, ['id', 'url']),
      queryNames.endpoints,
    ),
    simulatorRow('POST', '/webhook-endpoints/:id/test', (call) => ping(parts, call)),
  ]
}

/** An endpoint with how near it is to being disabled. */
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
