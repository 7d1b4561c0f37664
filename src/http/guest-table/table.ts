import { hash as digest } from 'node:crypto'
import { checkKey, type Check } from '../../model/check.ts'
import type { Location } from '../../model/records.ts'
import { Refusal } from '../../model/refusal.ts'
import { isShownAtTable, viewAtTable, type TableView } from '../../model/guests/guest-table.ts'
import type { Service } from '../../service.ts'
import { isTokenOf, type Table } from '../../table-address.ts'
import type { Call } from '../route.ts'

export interface TableParts {
  service: Pick<Service, 'list' | 'find' | 'get' | 'execute'>
  clock: { now(): Date }
  /** Secret from which the tokens of table addresses are derived. */
  tableSecret: string
}

/** A table at its location. */
export type LocatedTable = Table & { location: Location }

/** Limits of locations, and of open and of closed checks per table. */
const MOST = { locations: 1000, checks: 50 }

/** Returns the table of a path with a valid token. */
export async function findTable(
  { service, tableSecret }: TableParts,
  { params }: Call,
): Promise<LocatedTable | undefined> {
  const { number = '', token = '' } = params
  const { data } = await service.list('locations', { limit: MOST.locations })
  return data
    .map((location) => ({ location, location_id: location.id, number }))
    .find((table) => isTokenOf(tableSecret, table, token))
}

/** @throws Refusal `not_found` for a wrong token, also when the table does not exist. */
export async function requireTable(parts: TableParts, call: Call): Promise<LocatedTable> {
  const table = await findTable(parts, call)
  if (table !== undefined) return table
  throw new Refusal('not_found', 'No table at this address. Scan the QR code on the table again.')
}

/** Returns the checks that guests at a table see: open checks first, newest first. */
export async function checksAt(
  { service, clock }: TableParts,
  { location_id, number }: Table,
): Promise<Check[]> {
  const now = clock.now()
  const where = { location_id, 'table.number': number }
  const checks = (status: Check['status']) =>
    service.list('checks', {
      where: { ...where, status },
      only: (check) => isShownAtTable(check, now),
      limit: MOST.checks,
    })
  // Apart, so that many closed checks leave no open one out.
  const [open, closed] = await Promise.all([checks('open'), checks('closed')])
  return [...open.data, ...closed.data]
}

/** Returns the state of the page for the guest with this hash. */
export async function viewTable(parts: TableParts, table: LocatedTable, guest?: string): Promise<TableView> {
  const { name, currency, timezone } = table.location
  const checks = await checksAt(parts, table)
  return {
    table: { number: table.number },
    location: { name, currency, timezone },
    checks: await Promise.all(
      checks.map(async (check) => {
        const key = checkKey(check)
        const claims = await parts.service.find('claims', 'check', key)
        return viewAtTable(check, claims, await parts.service.find('payments', 'check', key), guest)
      }),
    ),
  }
}

/** Returns the SHA-256 of the header `X-Guest-Id`; `undefined` without one. */
export function guestOf(call: Call): string | undefined {
  const id = call.header('x-guest-id')
  if (id === null) return undefined
  if (/^[\w-]{22,64}$/.test(id)) return digest('sha256', id, 'hex')
  throw new Refusal(
    'invalid_request',
    'X-Guest-Id must have 22 to 64 letters, digits, hyphens or underscores.',
  )
}

/** @throws Refusal `invalid_request` when the header `X-Guest-Id` is missing. */
export function requireGuest(call: Call): string {
  const guest = guestOf(call)
  if (guest !== undefined) return guest
  throw new Refusal(
    'invalid_request',
    'The header X-Guest-Id is missing. It identifies the guest who claims and pays.',
  )
}
