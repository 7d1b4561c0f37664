/**
 * What orders the pushes of a check (contract section 6, rule 1): a safe integer from 0, or a time in UTC as
 * `revisionTime` writes it. Its field is `revision`, unless `start --order-by` names another.
 */
export type Revision = number | string

/** The field of a push that orders it, unless a deployment says otherwise. */
export const ORDER_BY = 'revision'

/**
 * Writes an ISO 8601 time in UTC, so that equal times are equal texts and later ones are greater. Decimals of seconds
 * are kept, however many: POS systems write micro- and nanoseconds.
 */
export function revisionTime(text: string): string {
  const [, minutes = '', seconds = ':00', decimals = '', offset = 'Z'] =
    /^(.{16})(:\d\d)?(?:\.(\d+))?(Z|[+-].*)?$/.exec(text) ?? []
  const time = Date.parse(`${minutes}${seconds}${offset}`)
  if (Number.isNaN(time)) return text
  return `${new Date(time).toISOString().slice(0, -5)}.${decimals.replace(/0+$/, '').padEnd(3, '0')}Z`
}

/** Whether a revision comes after another. A time comes after every number, so that all of them are in one order. */
export function isLater(one: Revision, other: Revision): boolean {
  if (typeof one === 'number' && typeof other === 'number') return one > other
  if (typeof one === 'string' && typeof other === 'string') return one.slice(0, -1) > other.slice(0, -1)
  return typeof one === 'string'
}

/** Fields of a check that mean something else. */
const taken = new Set(['table', 'status', 'items', 'totals'])

/** Why a name cannot be that of the field that orders pushes; `undefined` when it can. */
export function orderFieldIssue(name: string): string | undefined {
  if (taken.has(name)) return `${name} is another field of a check`
  if (/^[a-z][\w-]{0,63}$/i.test(name)) return undefined
  return 'a field name has 1 to 64 letters, digits, underscores and hyphens, and begins with a letter'
}
