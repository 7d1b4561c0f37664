import { Refusal } from '../model/refusal.ts'
import type { Table } from '../table-address.ts'
import { ok, type Route } from './route.ts'

export interface TableAddressParts {
  /** The whole URL of a table's page, as a guest's phone can open it. */
  tableUrl: (table: Table) => string
}

/** `GET /_sim/tables/{number}`: where the page of a table is, whether or not a check was pushed for it (contract section 7). */
export function tableAddressRoute(parts: TableAddressParts): Route {
  return {
    method: 'GET',
    path: '/tables/:number',
    scope: 'simulate',
    handle({ key: { location_id }, params }) {
      const number = tableNumber(params.number ?? '')
      return ok({ number, location_id, url: parts.tableUrl({ location_id, number }) })
    },
  }
}

/** @throws Refusal `invalid_path` for what no check could name as its table (contract section 5). */
function tableNumber(number: string): string {
  const length = Array.from(number).length
  if (length >= 1 && length <= 64) return number
  throw new Refusal('invalid_path', 'The number of a table must be 1 to 64 characters long.')
}
