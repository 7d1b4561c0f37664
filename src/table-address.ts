import { createHmac, timingSafeEqual } from 'node:crypto'
import { networkInterfaces } from 'node:os'

/** A table of the restaurant, identified by its number. */
export interface Table {
  location_id: string
  number: string
}

/** 128 bits: unguessable, and 22 characters long, which fits a small QR code. */
const TOKEN_BYTES = 16

/**
 * Returns the path of a table's page, `/t/{number}/{token}`. The path alone grants access to the table (contract
 * section 7).
 */
export function tablePath(secret: string, table: Table): string {
  return `/t/${encodeURIComponent(table.number)}/${tableToken(secret, table)}`
}

/** Returns true when a token belongs to a table. Compares in constant time. */
export function isTokenOf(secret: string, table: Table, token: string): boolean {
  const expected = Buffer.from(tableToken(secret, table))
  const presented = Buffer.from(token)
  return presented.length === expected.length && timingSafeEqual(presented, expected)
}

/** Derives 22 base64url characters from the secret, the location and the number; none of them can be computed back. */
function tableToken(secret: string, { location_id, number }: Table): string {
  const code = createHmac('sha256', secret)
    .update(JSON.stringify([location_id, number]))
    .digest()
  return code.subarray(0, TOKEN_BYTES).toString('base64url')
}

/**
 * Returns the URL of the service for other devices. For a service that listens on every address, that is one address of
 * the machine, a private IPv4 address if there is one; otherwise the address that it listens on.
 */
export function reachableUrl(url: string): string {
  const { protocol, hostname, port } = new URL(url)
  if (hostname !== '0.0.0.0' && hostname !== '[::]') return url
  const addresses = Object.values(networkInterfaces()).flatMap((list) => list ?? [])
  const candidates = addresses.filter(({ family, internal }) => family === 'IPv4' && !internal)
  const [best = '127.0.0.1'] = candidates.map(({ address }) => address).sort(byPrivacy)
  return `${protocol}//${best}${port === '' ? '' : `:${port}`}`
}

/** Private ranges, best first: phones are rarely in the network of a virtual machine or container. */
const ranges = [/^192\.168\./, /^10\./, /^172\.(1[6-9]|2\d|3[01])\./]

function byPrivacy(one: string, other: string): number {
  return rankOf(one) - rankOf(other)
}

function rankOf(address: string): number {
  const rank = ranges.findIndex((range) => range.test(address))
  return rank === -1 ? ranges.length : rank
}
