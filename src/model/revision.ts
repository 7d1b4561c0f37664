/**
 * Orders the pushes of a check (contract section 6, rule 1): a safe integer from 0, or a UTC time from `revisionTime`.
 * Its field is `revision`, unless `start --order-by` names another.
 */
export type Revision = number | string

/** Default field that orders pushes. */
export const ORDER_BY = 'revision'

/**
 * Converts an ISO 8601 time to UTC so that text order equals time order. All decimals of seconds are kept, because POS
 * systems write micro- and nanoseconds.
 */
export function revisionTime(text: string): string {
  const [, minutes = '', seconds = ':00', decimals = '', offset = 'Z'] =
    /^(.{16})(:\d\d)?(?:\.(\d+))?(Z|[+-].*)?$/.exec(text) ?? []
  const time = Date.parse(`${minutes}${seconds}${offset}`)
  if (Number.isNaN(time)) return text
  return `${new Date(time).toISOString().slice(0, -5)}.${decimals.replace(/0+$/, '').padEnd(3, '0')}Z`
}

/** Returns true when a revision comes after another. Times come after all numbers, so the order is total. */
export function isLater(one: Revision, other: Revision): boolean {
  if (typeof one === 'number' && typeof other === 'number') return one > other
  if (typeof one === 'string' && typeof other === 'string') return one.slice(0, -1) > other.slice(0, -1)
  return typeof one === 'string'
}

const fieldsOfCheck = new Set(['table', 'status', 'items', 'totals'])

/** Returns true for a field of a check, which has another meaning than the order of pushes. */
export function isCheckField(name: string): boolean {
  return fieldsOfCheck.has(name)
}

/** Returns the reason why a field cannot order pushes; `undefined` when it can. */
export function orderFieldIssue(name: string): string | undefined {
  if (isCheckField(name)) return `${name} is a field of a check with another meaning`
  if (/^[a-z][\w-]{0,63}$/i.test(name)) return undefined
  return 'a field name has 1 to 64 letters, digits, underscores and hyphens, and starts with a letter'
}
