import { createHmac, timingSafeEqual } from 'node:crypto'

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
