import { ApiError, type Client } from '../../client.ts'
import type { WebhookEndpointView } from '../../model/webhook-endpoint.ts'
import type { Route } from './door.ts'
import { dropLease, type KeptLease } from './lease.ts'

interface Endpoints {
  endpoints: Pick<Client['endpoints'], 'list' | 'delete' | 'createWithSecret'>
}

/** An endpoint of ours, with where its deliveries go. */
export interface Registered extends Route {
  endpoint: WebhookEndpointView
}

/** Sees to it that the service has an endpoint for each route: those there are stay, with their deliveries. */
export async function register(
  client: Endpoints,
  routes: readonly Route[],
  signing_secret: string,
): Promise<{ registered: Registered[]; made: number }> {
  const there = await endpointsAt(
    client,
    routes.map(({ url }) => url),
  )
  const registered: Registered[] = []
  for (const route of routes) {
    const known = there.find(({ url }) => url === route.url)
    const body = { url: route.url, event_types: [...route.target.events], signing_secret }
    registered.push({ ...route, endpoint: known ?? (await client.endpoints.createWithSecret(body)) })
  }
  return { registered, made: routes.length - there.length }
}

/** Removes the endpoints at these URLs. */
export async function unregister(client: Endpoints, urls: readonly string[]): Promise<void> {
  await remove(client, await endpointsAt(client, urls))
}

/**
 * Removes what killed ones have left with this service. A lease goes when it is settled: its endpoints were here, or it
 * was with this service and they are gone already; others wait for the service that they were with.
 */
export async function tidyUp(
  client: Endpoints,
  service: string,
  leases: readonly KeptLease[],
): Promise<number> {
  const there = await endpointsAt(
    client,
    leases.flatMap(({ urls }) => urls),
  )
  await remove(client, there)
  for (const lease of leases)
    if (lease.service === service || there.some(({ url }) => lease.urls.includes(url))) await dropLease(lease)
  return there.length
}

async function endpointsAt(client: Endpoints, urls: readonly string[]): Promise<WebhookEndpointView[]> {
  const wanted = new Set(urls)
  const found: WebhookEndpointView[] = []
  let cursor: string | undefined
  do {
    const page = await client.endpoints.list({ limit: 100, cursor })
    found.push(...page.data.filter(({ url }) => wanted.has(url)))
    cursor = page.next_cursor ?? undefined
  } while (cursor !== undefined)
  return found
}

async function remove(client: Endpoints, endpoints: readonly { id: string }[]): Promise<void> {
  for (const { id } of endpoints) await client.endpoints.delete(id).catch(ignoreGone)
}

function ignoreGone(error: unknown): void {
  if (!(error instanceof ApiError) || error.status !== 404) throw error
}
