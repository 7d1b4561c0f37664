import { z } from 'zod'
import { revisionTime, type Revision } from './revision.ts'

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
