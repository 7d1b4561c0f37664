import { z } from 'zod'
import { readOrdering, revisionNumber } from './revision-schemas.ts'
import { ORDER_BY, type Revision } from './revision.ts'
import { isObject, pathText, validate, type ValidationIssue } from './validation.ts'

const text = (max: number) => z.string().min(1).max(max)

/** A finite number above 0, up to 1,000,000, stored as pushed (contract section 5). */
const quantity = z.number().gt(0).max(1_000_000)

const itemBody = z.object({
  external_id: text(255),
  name: text(255),
  quantity,
  price_cents: z.int(),
  note: z.string().max(1000).nullable().default(null),
})

const totalsBody = z.object({ subtotal_cents: z.int(), tax_cents: z.int(), total_cents: z.int().min(0) })

export const checkStatuses = ['open', 'closed'] as const

/**
 * Body of `PUT /checks/external/{external_check_id}`: the complete current state of a check. Fields are of
 * specification section 2, bounds of contract section 5. Money is in integer minor units; `price_cents` is the price of
 * one unit.
 */
export const pushBody = z.object({
  table: z.object({ number: text(64) }),
  status: z.enum(checkStatuses),
  items: z.array(itemBody).max(1000),
  totals: totalsBody,
  revision: revisionNumber.optional(),
})
export type Push = z.infer<typeof pushBody>
/** A parsed push. `revision` is the value of the field that orders pushes. */
export type OrderedPush = Omit<Push, 'revision'> & { revision?: Revision | undefined }
/**
 * A push before parsing: optional fields may be absent. Its items may be those of a stored check, whose quantities of
 * claimed and paid items are ignored and reported as unknown fields.
 */
export type PushInput = Omit<z.input<typeof pushBody>, 'items'> & {
  items: readonly z.input<typeof itemBody>[]
}
export type PushedItem = Push['items'][number]

/** An item of a check: the pushed fields, and the quantities that guests claimed and paid. */
export interface CheckItem extends PushedItem {
  claimed_quantity: number
  paid_quantity: number
}

/** A check as `PUT` and `GET` return it and `check.*` events carry it in `data` (contract section 3). */
export interface Check {
  id: string
  external_id: string
  location_id: string
  table: Push['table']
  status: Push['status']
  items: readonly CheckItem[]
  totals: Push['totals']
  /** Revision of the applied push; `null` when it had none. */
  revision: Revision | null
  paid_cents: number
  /** Unpaid amount; negative when the POS lowered the total below the paid amount. */
  balance_cents: number
  created_at: string
  updated_at: string
  closed_at: string | null
}

/** A check in the store. */
export interface StoredCheck extends Check {
  /** The field that holds the revision when it is not `revision`. Responses do not show it. */
  ordered_by?: string
}

/** Returns the check as responses show it: all stored fields except `ordered_by`. */
export function viewCheck(check: StoredCheck): Check {
  if (check.ordered_by === undefined) return check
  const { ordered_by: _field, ...view } = check
  return view
}

/**
 * Returns the revision of a check if it was read from the field `orderBy`, otherwise `null`. Revisions of different
 * fields cannot be compared.
 */
export function revisionOf(check: StoredCheck, orderBy: string): Revision | null {
  return (check.ordered_by ?? ORDER_BY) === orderBy ? check.revision : null
}

/** Returns the key of a check: the location of the API key and the POS's own identifier. */
export function checkKey(check: { location_id: string; external_id: string }): string {
  return `${check.location_id}/${check.external_id}`
}

/** `checkKey` for a record about a check. */
export function keyOfItsCheck(record: { location_id: string; external_check_id: string }): string {
  return checkKey({ location_id: record.location_id, external_id: record.external_check_id })
}

/** Options for parsing pushes. */
interface PushReading {
  /** Refuses unknown fields. */
  strict?: boolean
  /** The field that orders pushes. */
  orderBy?: string
}

/**
 * Parses a pushed body. Unknown fields are dropped, or refused when `strict`.
 * @throws Refusal `validation_failed` with all issues at once.
 */
export function parsePush(
  body: unknown,
  { strict = false, orderBy = ORDER_BY }: PushReading = {},
): OrderedPush {
  const unknown = strict ? unknownFields(body, orderBy) : []
  const issues = [
    ...repeatedIds(body),
    ...unknown.map((path) => ({ path, message: 'is not a field of a check (strict mode)' })),
  ]
  if (orderBy === ORDER_BY) {
    const push = validate(pushBody, body, issues)
    return plain(push, push.revision)
  }
  const ordering = isObject(body) && Object.hasOwn(body, orderBy) ? readOrdering(body[orderBy]) : {}
  if (ordering.issue !== undefined) issues.push({ path: orderBy, message: ordering.issue })
  return plain(validate(unorderedBody, body, issues), ordering.revision)
}

const unorderedBody = pushBody.omit({ revision: true })

/** Copies a push to plain objects. Copying and serialising the validator's objects takes a hundred times as long. */
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

const namesOf = ({ shape }: { shape: object }) => new Set(Object.keys(shape))
const known = {
  push: namesOf(unorderedBody).add('$schema'),
  table: namesOf(pushBody.shape.table),
  item: namesOf(itemBody),
  totals: namesOf(totalsBody),
}

/** Returns the paths of the fields that a check does not have. */
export function unknownFields(body: unknown, orderBy = ORDER_BY): string[] {
  if (!isObject(body)) return []
  const found: string[] = []
  const add = (value: unknown, names: ReadonlySet<string>, path: readonly PropertyKey[], also?: string) => {
    if (!isObject(value)) return
    for (const name of Object.keys(value))
      if (!names.has(name) && name !== also) found.push(pathText([...path, name]))
  }
  add(body, known.push, [], orderBy)
  add(body.table, known.table, ['table'])
  if (Array.isArray(body.items))
    for (const [index, item] of body.items.entries()) add(item, known.item, ['items', index])
  add(body.totals, known.totals, ['totals'])
  return found
}

/** Returns true when guests see the same state: all fields but the revision are equal. */
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

/** Serialises the content of a check. Used as a last, deterministic order between pushes. */
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

function repeatedIds(body: unknown): ValidationIssue[] {
  const items: unknown[] = isObject(body) && Array.isArray(body.items) ? body.items : []
  const seen = new Set<unknown>()
  const issues: ValidationIssue[] = []
  for (const [index, item] of items.entries()) {
    const id = isObject(item) ? item.external_id : undefined
    if (typeof id === 'string' && seen.has(id))
      issues.push({
        path: `items[${index}].external_id`,
        message: `must be unique within the check, got ${JSON.stringify(id)} twice`,
      })
    seen.add(id)
  }
  return issues
}
