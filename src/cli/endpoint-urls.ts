import { paginate } from '../client/reads.ts'
import type { Client } from '../client.ts'

/** Returns the URLs of all endpoints by id. */
export async function endpointUrls(client: Client): Promise<Record<string, string>> {
  const urls: Record<string, string> = {}
  for await (const { id, url } of paginate(client.endpoints.list)) urls[id] = url
  return urls
}
