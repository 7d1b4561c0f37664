import type { TableView } from '../../../src/model/guests/guest-table.ts'
import type { CallOptions, TestSimulator } from '../../support/simulator.ts'

/** Guests' ids, as browsers make them. */
export const ann = 'ann-ann-ann-ann-ann-ann'
export const bob = 'bob-bob-bob-bob-bob-bob'

/** The page of a table as a guest's browser speaks to it: no API key, the id in a header. */
export async function sitDown({ client, call }: TestSimulator, number = '12') {
  const path = new URL((await client.tables.address(number)).url).pathname
  const ask = (guest: string | null, method: string, below: string, options: CallOptions = {}) =>
    call(`${method} ${path}${below}`, {
      key: null,
      headers: guest === null ? {} : { 'x-guest-id': guest },
      ...options,
    })
  return {
    path,
    ask,
    post: (guest: string | null, below: string, json: object) => ask(guest, 'POST', below, { json }),
    state: async (guest: string | null = null) => (await ask(guest, 'GET', '/state')).json as TableView,
  }
}
