import { paginate } from '../client/reads.ts'
import { ApiError } from '../client/errors.ts'
import { queryText } from '../client/transport.ts'
import type { List, PageQuery } from '../client/types.ts'
import type { Client } from '../client.ts'
import type { WebhookEndpointView } from '../model/webhook-endpoint.ts'
import { CommandError, usageError } from './errors.ts'
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

/** Returns true for a word that names an endpoint by its URL, and not by its id. */
export function isUrl(word: string): boolean {
  return /^https?:\/\//i.test(word)
}

/**
 * Returns the id of the endpoint that a word names by id or URL. An id is not looked up.
 * @throws CommandError when no endpoint has the URL, or (usage) when several have it.
 */
export async function endpointIdOf(client: Endpoints, wanted: string): Promise<string> {
  if (!isUrl(wanted)) return wanted
  const [first, ...others] = (await allEndpoints(client)).filter(({ url }) => isSameUrl(url, wanted))
  if (first === undefined) throw noEndpoint('URL', wanted)
  if (others.length === 0) return first.id
  const choices = [first, ...others].map(({ id, status }) => `  ${id}  ${status}`).join('\n')
  throw usageError(`${others.length + 1} endpoints have the URL ${wanted}. Pass the id of one:\n${choices}`)
}

/**
 * Returns the id of the endpoint that a filter of deliveries names by id or URL; `undefined` without a filter. A removed
 * endpoint is known by its stored deliveries.
 * @throws CommandError when there is no such endpoint: the filter would match nothing, also when none is expected.
 */
export async function endpointFilter(
  client: Client,
  wanted: string | undefined,
): Promise<string | undefined> {
  if (wanted === undefined) return undefined
  const endpoint_id = await endpointIdOf(client, wanted)
  if (isUrl(wanted) || (await allEndpoints(client)).some(({ id }) => id === endpoint_id)) return endpoint_id
  const { data } = await client.deliveries.list({ endpoint_id, limit: 1 })
  if (data.length === 0) throw noEndpoint('id', wanted)
  return endpoint_id
}

export function noEndpoint(field: 'id' | 'URL', wanted: string): CommandError {
  return new CommandError(
    'no_endpoint',
    `No endpoint has the ${field} ${wanted}. List endpoints with: tabwire endpoints list`,
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
