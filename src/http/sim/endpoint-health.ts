import type { Delivery } from '../../model/delivery.ts'
import { healthOf, RECENT, type RecentDeliveries } from '../../model/simulator/endpoint-health.ts'
import { viewEndpoint, type WebhookEndpoint } from '../../model/webhook-endpoint.ts'
import type { Service } from '../../service.ts'

/** Deliveries read at once: about 1 ms of work, after which other requests run. */
const READ_AT_ONCE = 2_000

/** An endpoint with its number of consecutive failures and the outcome of its newest deliveries. */
export interface EndpointHealth extends ReturnType<typeof viewEndpoint>, RecentDeliveries {
  consecutive_failures: number
}

/**
 * Returns the health of endpoints from one read of the deliveries, newest first. It ends when each endpoint has enough
 * deliveries, or when the caller is gone.
 */
export async function healthOfAll(
  service: Pick<Service, 'list'>,
  endpoints: readonly WebhookEndpoint[],
  gone: AbortSignal,
): Promise<EndpointHealth[]> {
  const newest = new Map<string, Delivery[]>(endpoints.map(({ id }) => [id, []]))
  const missing = new Set(newest.keys())
  const [only] = endpoints
  const where = endpoints.length === 1 && only !== undefined ? { endpoint_id: only.id } : {}
  for (let after: string | undefined, more = true; more && missing.size > 0 && !gone.aborted;) {
    const page = await service.list('deliveries', { where, after, limit: READ_AT_ONCE })
    for (const delivery of page.data) {
      const { endpoint_id, attempts } = delivery
      const found = newest.get(endpoint_id)
      if (found === undefined || attempts.length === 0 || found.length === RECENT) continue
      if (found.push(delivery) === RECENT) missing.delete(endpoint_id)
    }
    after = page.data.at(-1)?.id
    more = page.more
  }
  return endpoints.map((endpoint) => ({
    ...viewEndpoint(endpoint),
    consecutive_failures: endpoint.consecutive_failures,
    ...healthOf(newest.get(endpoint.id) ?? []),
  }))
}
