import { z } from 'zod'

/**
 * Orders the pushes of a check (contract section 6, rule 1): a safe integer from 0, or a UTC time from `revisionTime`.
 * Its field is `revision`, unless `start --order-by` names another.
 */
export type Revision = number | string

/** Default field that orders pushes. */
export const ORDER_BY = 'revision'

/** `revision` itself is a safe integer (contract section 5). */
export const revisionNumber = z.int().min(0)

/** A time in UTC with at least 3 decimals of its seconds, and no zero at the end beyond them. */
const utcTime = z.string().regex(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}(\d*[1-9])?Z$/)

/** Schema of a stored revision, `null` for none. */
export const storedRevision = z.union([revisionNumber, utcTime, z.null()])

const form = { offset: true, local: true }
/** An ISO 8601 time to the minute, or to the second with any decimals. */
const isoTime = z.union([z.iso.datetime(form), z.iso.datetime({ ...form, precision: -1 })])

/** Reads the value of the field that `--order-by` names: an integer, or an ISO 8601 time (without an offset: UTC). */
export function readOrdering(value: unknown): { revision?: Revision; issue?: string } {
  const number = revisionNumber.safeParse(value)
  if (number.success) return { revision: number.data }
  const time = z.string().max(64).pipe(isoTime).transform(revisionTime).pipe(utcTime).safeParse(value)
  if (time.success) return { revision: time.data }
  return { issue: 'must be an integer from 0, or an ISO 8601 time such as 2026-11-21T18:00:00.000Z' }
}

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

/** Fields of a check with another meaning. */
const taken = new Set(['table', 'status', 'items', 'totals'])

/** Returns the reason why a field cannot order pushes; `undefined` when it can. */
export function orderFieldIssue(name: string): string | undefined {
  if (taken.has(name)) return `${name} is another field of a check`
  if (/^[a-z][\w-]{0,63}$/i.test(name)) return undefined
  return 'a field name has 1 to 64 letters, digits, underscores and hyphens, and begins with a letter'
}
