import type { Delivery } from '../../model/delivery.ts'
import { healthOf, RECENT, type RecentDeliveries } from '../../model/simulator/endpoint-health.ts'
import { viewEndpoint, type WebhookEndpoint } from '../../model/webhook-endpoint.ts'
import type { Service } from '../../service.ts'
import { inBatches } from '../list.ts'

/** The newest deliveries that are read for a list. A page reads the list every 5 s, also with 100,000 deliveries. */
const MOST_READ = 10_000

/** An endpoint with its number of consecutive failures and the outcome of its newest deliveries. */
export interface EndpointHealth extends ReturnType<typeof viewEndpoint>, RecentDeliveries {
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
  for await (const batch of inBatches(
    service,
    'deliveries',
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
