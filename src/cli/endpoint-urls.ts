import { paginate } from '../client/reads.ts'
import { ApiError } from '../client/errors.ts'
import { queryText } from '../client/transport.ts'
import type { List, PageQuery } from '../client/types.ts'
import type { Client } from '../client.ts'
import type { WebhookEndpointView } from '../model/webhook-endpoint.ts'
import { CommandError } from './errors.ts'
import { hasFields } from './render/foreign.ts'

/**
 * Makes a function that returns the URL of an endpoint; `undefined` for a removed one, and when the service does not answer.
 * Lists the endpoints again for an unknown id only.
 */
export function createEndpointUrls(
  connect: () => Promise<Client>,
): (id: string) => Promise<string | undefined> {
  const known = new Map<string, string | undefined>()
  return async (id) => {
    if (!known.has(id)) {
      const urls = await connect()
        .then(endpointUrls)
        .catch(() => undefined)
      for (const [one, url] of Object.entries(urls ?? {})) known.set(one, url)
      // Ids are not used again, so a removed endpoint stays unknown.
      if (urls !== undefined && !known.has(id)) known.set(id, undefined)
    }
    return known.get(id)
  }
}

/** Returns true for URLs that mean the same, such as `https://a.example` and `https://a.example:443/`. */
export function isSameUrl(one: string, other: string): boolean {
  return (
    one === other || (URL.canParse(one) && URL.canParse(other) && new URL(one).href === new URL(other).href)
  )
}

/** Returns the URLs of all endpoints by id. */
export async function endpointUrls(client: Client): Promise<Record<string, string>> {
  return Object.fromEntries((await allEndpoints(client)).map(({ id, url }) => [id, url]))
}

/**
 * Returns all endpoints, newest first.
 * @throws CommandError for a list in a form of another service's own.
 */
export async function allEndpoints(client: Endpoints): Promise<WebhookEndpointView[]> {
  const found = new Map<string, WebhookEndpointView>()
  const list = async (query?: PageQuery) => {
    const page = await pageOf(client, query)
    if (Array.isArray(page.data) && page.data.every((one) => hasFields(one, 'id', 'url'))) return page
    throw new CommandError(
      'unknown_list',
      'The service lists endpoints in another form. Pass the id of the endpoint.',
    )
  }
  for await (const endpoint of paginate(list)) {
    // Another service may ignore the cursor, and return its first page again.
    if (found.has(endpoint.id)) break
    found.set(endpoint.id, endpoint)
  }
  return [...found.values()]
}

interface Endpoints extends Pick<Client, 'request'> {
  endpoints: Pick<Client['endpoints'], 'list'>
}

/** Lists endpoints under `/_sim`, which needs the scope `simulate` and has neither injected faults nor rate limits. */
export async function simulatorEndpoints(
  client: Pick<Client, 'request'>,
  query: PageQuery = {},
): Promise<List<WebhookEndpointView>> {
  const { json } = await client.request('GET', `/_sim/webhook-endpoints${queryText(query)}`)
  return json as List<WebhookEndpointView>
}

/** Lists endpoints under `/_sim`; at another service, or without the scope, under `/v1`. */
async function pageOf(client: Endpoints, query: PageQuery = {}): Promise<List<WebhookEndpointView>> {
  try {
    const page = await simulatorEndpoints(client, query)
    // Another service may answer every path, with a page of its own.
    if (isList(page)) return page
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
  }
  return client.endpoints.list(query)
}

function isList(page: unknown): boolean {
  return typeof page === 'object' && page !== null && Array.isArray((page as Record<string, unknown>).data)
}
