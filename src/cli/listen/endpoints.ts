import type { Client } from '../../client.ts'
import { ignoreNotFound } from '../../client/errors.ts'
import { allEndpoints } from '../endpoint-urls.ts'
import type { WebhookEndpointView } from '../../model/webhook-endpoint.ts'
import { type Certificates, explainRefusal, type Tunnel, openTunnel } from './tunnel.ts'
import { deadLeases, dropLease, type KeptLease, listenSecret } from './lease.ts'
import { setTimeout as sleep } from 'node:timers/promises'
import { eventTypes } from '../../model/event.ts'
import { parseTarget, type ForwardRoute } from './target.ts'
import { openStream } from '../../client/stream.ts'
import { reconnecting } from '../tail/reconnect.ts'
import type { Listener } from './listener.ts'

interface Endpoints extends Pick<Client, 'request'> {
  endpoints: Pick<Client['endpoints'], 'list' | 'delete' | 'createWithSecret'>
}

/** An endpoint of this command, with its route. */
export interface RegisteredRoute extends ForwardRoute {
  endpoint: WebhookEndpointView
}

/** Registers an endpoint for each route. Existing ones stay, with their deliveries. */
export async function register(
  client: Endpoints,
  routes: readonly ForwardRoute[],
  signing_secret: string,
): Promise<{ registered: RegisteredRoute[]; made: number }> {
  const there = await endpointsAt(
    client,
    routes.map(({ url }) => url),
  )
  const registered: RegisteredRoute[] = []
  for (const route of routes) {
    const known = there.find(({ url }) => url === route.url)
    const body = { url: route.url, event_types: [...route.target.events], signing_secret }
    registered.push({ ...route, endpoint: known ?? (await client.endpoints.createWithSecret(body)) })
  }
  return { registered, made: routes.length - there.length }
}

/** Removes the endpoints at these URLs. */
async function unregister(client: Endpoints, urls: readonly string[]): Promise<void> {
  await remove(client, await endpointsAt(client, urls))
}

/**
 * Removes the endpoints that killed `listen` processes left at this service. A lease is dropped when its endpoints
 * were here, or when it belongs to this service and they are gone; others wait for their service.
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

/**
 * Time limit for removing endpoints, in milliseconds. The next `listen` removes those that a hanging service keeps.
 */
const REMOVAL_MS = 3_000

/** Removes the endpoints and closes the tunnel. Resolves with false when the service did not remove them in time. */
export async function closeTunnel(tunnel: Tunnel, connect: () => Promise<Client>): Promise<boolean> {
  const urls = tunnel.routes.map(({ url }) => url)
  const removal = connect().then((client) => unregister(client, urls))
  const late = sleep(REMOVAL_MS, undefined, { ref: false }).then(() => Promise.reject(new Error('too late')))
  try {
    await Promise.race([removal, late])
    await dropLease(tunnel.lease)
    return true
  } catch {
    return false
  } finally {
    await tunnel.close()
  }
}

interface ForwardingOptions {
  to: string
  directory: string
  service: string
  certificates: Certificates
  /** Default: the secret of `listen`. */
  secret?: string | undefined
  /** Fetch the deliveries from the service. Default: true unless the service runs here on this data directory. */
  relay?: boolean | undefined
  /** Locates the service again: after a restart it may have another port and key. */
  connect: () => Promise<Client>
  /** Gets the function that removes the endpoint, for a command that is interrupted. */
  onOpen: (remove: () => Promise<unknown>) => void
}

/** Forwards deliveries to a receiver on plain HTTP by a temporary endpoint, as `listen` does, while `work` runs. */
export async function forwarding<T>(
  client: Client,
  { to, directory, service, certificates, secret, relay, connect, onOpen }: ForwardingOptions,
  work: (endpointId: string) => Promise<T>,
): Promise<T> {
  const targets = [{ to: parseTarget(to), events: eventTypes, headers: [] }]
  await tidyUp(client, service, await deadLeases(directory))
  const tunnel = await openTunnel({ directory, service, targets, insecure: false }, certificates, relay)
  const ending = new AbortController()
  try {
    if (tunnel.listener !== undefined) await fetchOffers(tunnel.listener, connect, ending.signal)
    const signing_secret = secret ?? (await listenSecret(directory))
    const { registered } = await register(client, tunnel.routes, signing_secret).catch((error: unknown) => {
      throw explainRefusal(error) ?? error
    })
    onOpen(() => closeTunnel(tunnel, connect))
    return await work(registered[0]?.endpoint.id ?? '')
  } finally {
    ending.abort()
    // When this fails, the lease stays: the next `listen` removes the endpoints.
    await closeTunnel(tunnel, connect)
  }
}

/** Forwards all offers from when it resolves until `signal` aborts, also when the service ends and is back. */
async function fetchOffers(
  listener: Listener,
  connect: () => Promise<Client>,
  signal: AbortSignal,
): Promise<void> {
  const connections = reconnecting<{ type: 'open' }>({
    connect,
    signal,
    async *messages(client) {
      const stream = await openStream(client, signal, { listener: listener.name })
      yield { type: 'open' }
      for await (const message of stream)
        if (message.type === 'offer') void listener.take(message.data, connect)
    },
  })
  await connections.next()
  const restOf = async () => {
    while ((await connections.next()).done !== true);
  }
  // Without the stream, attempts end with a timeout that says so.
  restOf().catch(() => undefined)
}

async function endpointsAt(client: Endpoints, urls: readonly string[]): Promise<WebhookEndpointView[]> {
  return (await allEndpoints(client)).filter(({ url }) => urls.includes(url))
}

async function remove(client: Endpoints, endpoints: readonly { id: string }[]): Promise<void> {
  for (const { id } of endpoints) await client.endpoints.delete(id).catch(ignoreNotFound)
}
