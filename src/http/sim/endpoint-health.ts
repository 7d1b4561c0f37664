import type { Delivery } from '../../model/delivery.ts'
import { healthOf, RECENT, type RecentDeliveries } from '../../model/simulator/endpoint-health.ts'
import { viewEndpoint, type WebhookEndpoint } from '../../model/webhook-endpoint.ts'
import type { Service } from '../../service.ts'

/** Deliveries read at once: about 1 ms of work, after which other requests run. */
const READ_AT_ONCE = 2_000

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
  const query = isOne ? { where: { endpoint_id: only.id }, limit: RECENT } : { limit: READ_AT_ONCE }
  let read = 0
  for (let after: string | undefined, more = true; more && missing.size > 0 && !gone.aborted;) {
    const page = await service.list('deliveries', { ...query, after })
    read += page.data.length
    for (const delivery of page.data) {
      const { endpoint_id, attempts } = delivery
      const found = newest.get(endpoint_id)
      if (found === undefined || attempts.length === 0 || found.length === RECENT) continue
      if (found.push(delivery) === RECENT) missing.delete(endpoint_id)
    }
    after = page.data.at(-1)?.id
    more = page.more && (isOne || read < MOST_READ)
  }
  return endpoints.map((endpoint) => ({
    ...viewEndpoint(endpoint),
    consecutive_failures: endpoint.consecutive_failures,
    ...healthOf(newest.get(endpoint.id) ?? []),
  }))
}
