import type { Client } from '../../client.ts'
import { paginate } from '../../client/listing.ts'

/** The currency of a location, as far as the key sees it; `undefined` when it does not. */
export async function currencyOf(
  client: { locations: Pick<Client['locations'], 'list'> },
  locationId: string,
): Promise<string | undefined> {
  for await (const { id, currency } of paginate(client.locations.list)) if (id === locationId) return currency
  return undefined
}
