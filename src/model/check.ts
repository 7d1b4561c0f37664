import { z } from 'zod'
import { readOrdering, revisionNumber } from './revision-schemas.ts'
import { ORDER_BY, type Revision } from './revision.ts'
import { pathText, validate, type ValidationIssue } from './validation.ts'

const text = (max: number) => z.string().min(1).max(max)

/** Any finite number above 0, up to 1,000,000, kept as it was pushed (contract section 5). */
const quantity = z.number().gt(0).max(1_000_000)

const itemBody = z.object({
  external_id: text(255),
  name: text(255),
  quantity,
  price_cents: z.int(),
  note: z.string().max(1000).nullable().default(null),
})

const totalsBody = z.object({ subtotal_cents: z.int(), tax_cents: z.int(), total_cents: z.int().min(0) })

/**
 * Body of `PUT /checks/external/{external_check_id}`: the complete current state of a check (specification section 2,
 * bounds of contract section 5). Money is in integer minor units; `price_cents` is the price of one unit.
 */
export const pushBody = z.object({
  table: z.object({ number: text(64) }),
  status: z.enum(['open', 'closed']),
  items: z.array(itemBody).max(1000),
  totals: totalsBody,
  revision: revisionNumber.optional(),
})
export type Push = z.infer<typeof pushBody>
/** A push as it was read: `revision` is the value of the field that orders pushes. */
export type OrderedPush = Omit<Push, 'revision'> & { revision?: Revision | undefined }
/** A push as it may be sent: what is optional may be left out. */
export type PushInput = z.input<typeof pushBody>
export type PushedItem = Push['items'][number]

/** A check's item as it is shown: what the POS pushed, and what guests did with it. */
export interface CheckItem extends PushedItem {
  claimed_quantity: number
  paid_quantity: number
}

/** A check as it is stored, answered to `PUT` and `GET`, and sent as `data` of `check.*` events (contract section 3). */
export interface Check {
  id: string
  external_id: string
  location_id: string
  table: Push['table']
  status: Push['status']
  items: readonly CheckItem[]
  totals: Push['totals']
  /** That of the push which it shows; `null` when that had none. */
  revision: Revision | null
  paid_cents: number
  /** What is still owed; negative when the POS lowered the total below what guests had paid. */
  balance_cents: number
  created_at: string
  updated_at: string
  closed_at: string | null
}

/** A check as it is stored. */
export interface StoredCheck extends Check {
  /** The field that its revision was read from, when that is another than `revision`. Not shown. */
  ordered_by?: string
}

/** The one view of a check: its stored form is its shown form, field by field, but for `ordered_by`. */
export function viewCheck(check: StoredCheck): Check {
  if (check.ordered_by === undefined) return check
  const { ordered_by: _field, ...view } = check
  return view
}

/**
 * The revision of a check among pushes that are ordered by this field. One that was read from another field says nothing
 * of their order, so the check then counts as having none.
 */
export function revisionOf(check: StoredCheck, orderBy: string): Revision | null {
  return (check.ordered_by ?? ORDER_BY) === orderBy ? check.revision : null
}

/** What identifies a check: the location of the key that pushes it and the POS's own identifier. */
export function checkKey(check: { location_id: string; external_id: string }): string {
  return `${check.location_id}/${check.external_id}`
}

/** How pushes are read. */
export interface PushReading {
  /** Refuse unknown fields. */
  strict?: boolean
  /** The field that orders pushes. */
  orderBy?: string
}

/**
 * Reads a pushed body. Unknown fields are dropped, or refused when `strict`.
 * @throws Refusal `validation_failed` with all issues at once.
 */
export function parsePush(
  body: unknown,
  { strict = false, orderBy = ORDER_BY }: PushReading = {},
): OrderedPush {
  const unknown = strict ? unknownFields(body, orderBy) : []
  const issues = [
    ...repeatedIds(body),
    ...unknown.map((path) => ({ path, message: 'is not a field of a check; strict mode refuses it' })),
  ]
  if (orderBy === ORDER_BY) {
    const { revision, ...push } = validate(pushBody, body, issues)
    return plain(push, revision)
  }
  const ordering = isObject(body) && Object.hasOwn(body, orderBy) ? readOrdering(body[orderBy]) : {}
  if (ordering.issue !== undefined) issues.push({ path: orderBy, message: ordering.issue })
  return plain(validate(unorderedBody, body, issues), ordering.revision)
}

const unorderedBody = pushBody.omit({ revision: true })

/**
 * The same, field by field. The validator's objects are of a kind that copying and serialising take a hundred times as
 * long with.
 */
function plain(
  { table, status, items, totals }: Omit<Push, 'revision'>,
  revision: Revision | undefined,
): OrderedPush {
  const push: OrderedPush = {
    table: { number: table.number },
    status,
    items: items.map(({ external_id, name, quantity, price_cents, note }) => ({
      external_id,
      name,
      quantity,
      price_cents,
      note,
    })),
    totals: {
      subtotal_cents: totals.subtotal_cents,
      tax_cents: totals.tax_cents,
      total_cents: totals.total_cents,
    },
  }
  if (revision !== undefined) push.revision = revision
  return push
}

/** Paths of the fields of a body that are not fields of a check. */
export function unknownFields(body: unknown, orderBy = ORDER_BY): string[] {
  if (!isObject(body)) return []
  const found: string[] = []
  const { revision, ...fields } = pushBody.shape
  findStrangers(body, { ...fields, [orderBy]: revision }, [], found)
  findStrangers(body.table, pushBody.shape.table.shape, ['table'], found)
  if (Array.isArray(body.items))
    for (const [index, item] of body.items.entries())
      findStrangers(item, itemBody.shape, ['items', index], found)
  findStrangers(body.totals, totalsBody.shape, ['totals'], found)
  return found
}

/** Whether two pushes, or a push and a check, show the guests the same: all but the revision, as JSON values. */
export function sameContent(one: OrderedPush | Check, other: OrderedPush | Check): boolean {
  return (
    one.status === other.status &&
    one.table.number === other.table.number &&
    one.totals.total_cents === other.totals.total_cents &&
    one.totals.subtotal_cents === other.totals.subtotal_cents &&
    one.totals.tax_cents === other.totals.tax_cents &&
    one.items.length === other.items.length &&
    one.items.every((item, index) => sameItem(item, other.items[index]))
  )
}

function sameItem(one: PushedItem, other: PushedItem | undefined): boolean {
  return (
    one.external_id === other?.external_id &&
    one.name === other.name &&
    one.quantity === other.quantity &&
    one.price_cents === other.price_cents &&
    one.note === other.note
  )
}

/** The content of a check as one text, which orders what nothing else does. */
export function contentOf(check: OrderedPush | Check): string {
  const items = check.items.map(({ external_id, name, quantity, price_cents, note }) => [
    external_id,
    name,
    quantity,
    price_cents,
    note,
  ])
  const { subtotal_cents, tax_cents, total_cents } = check.totals
  return JSON.stringify([check.table.number, check.status, items, [subtotal_cents, tax_cents, total_cents]])
}

function findStrangers(value: unknown, shape: object, path: readonly PropertyKey[], found: string[]): void {
  if (!isObject(value)) return
  for (const key of Object.keys(value)) if (!Object.hasOwn(shape, key)) found.push(pathText([...path, key]))
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function repeatedIds(body: unknown): ValidationIssue[] {
  const items: unknown[] = isObject(body) && Array.isArray(body.items) ? body.items : []
  const seen = new Set<unknown>()
  const issues: ValidationIssue[] = []
  for (const [index, item] of items.entries()) {
    const id = isObject(item) ? item.external_id : undefined
    if (typeof id === 'string' && seen.has(id))
      issues.push({
        path: `items[${index}].external_id`,
        message: `must be unique within the check, ${JSON.stringify(id)} is there twice`,
      })
    seen.add(id)
  }
  return issues
}
