import { createHmac, timingSafeEqual } from 'node:crypto'

/** A table of the restaurant, which a check names by its number. */
export interface Table {
  location_id: string
  number: string
}

/** 128 bits, which nobody guesses, in 22 characters, which a QR code holds easily. */
const TOKEN_BYTES = 16

/** The path of a table's page, `/t/{number}/{token}`: whoever knows it sits at the table (contract section 7). */
export function tablePath(secret: string, table: Table): string {
  return `/t/${encodeURIComponent(table.number)}/${tableToken(secret, table)}`
}

/** Whether a token is that of a table, compared in constant time. */
export function isTokenOf(secret: string, table: Table, token: string): boolean {
  const expected = Buffer.from(tableToken(secret, table))
  const presented = Buffer.from(token)
  return presented.length === expected.length && timingSafeEqual(presented, expected)
}

/** 22 characters of base64url that follow from the secret, the location and the number, and from which none of them does. */
function tableToken(secret: string, { location_id, number }: Table): string {
  const code = createHmac('sha256', secret)
    .update(JSON.stringify([location_id, number]))
    .digest()
  return code.subarray(0, TOKEN_BYTES).toString('base64url')
}
