import type { Client } from '../../client.ts'

/** The currency of a location, as far as the key sees it; `undefined` when it does not. */
export async function currencyOf(
  client: { locations: Pick<Client['locations'], 'list'> },
  locationId: string,
): Promise<string | undefined> {
  let cursor: string | undefined
  do {
    const page = await client.locations.list({ limit: 100, cursor })
    const location = page.data.find(({ id }) => id === locationId)
    if (location !== undefined) return location.currency
    cursor = page.next_cursor ?? undefined
  } while (cursor !== undefined)
  return undefined
}
