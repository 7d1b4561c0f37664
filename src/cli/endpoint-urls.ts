import { paginate } from '../client/reads.ts'
import type { Client } from '../client.ts'

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
  const urls: Record<string, string> = {}
  for await (const { id, url } of paginate(client.endpoints.list)) urls[id] = url
  return urls
}
