/** Digits of identifiers: Crockford's base 32. */
const DIGITS = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'

/** Digits of an identifier that hold its time, in milliseconds since 1970. */
const TIME_DIGITS = 10

/** Returns the creation time of an identifier such as `dlv_01K9…`, ISO 8601 UTC; lists are sorted by it. */
export function createdAt(id: string): string {
  const start = id.indexOf('_') + 1
  let time = 0
  for (const digit of id.slice(start, start + TIME_DIGITS)) time = time * 32 + DIGITS.indexOf(digit)
  return new Date(time).toISOString()
}
