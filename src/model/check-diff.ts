import type { PushedItem, Check, Push } from './check.ts'

/** Changes that a push made to the items of a check, matched by `external_id` (specification section 4, rule 3). */
export interface ItemDiff {
  added: readonly PushedItem[]
  removed: readonly PushedItem[]
  changed: readonly { external_id: string; name: string; changes: readonly FieldChange[] }[]
  unchanged: number
  /** True when the items that stayed changed their order; otherwise absent. */
  reordered?: true
}

export const itemFields = ['name', 'quantity', 'price_cents', 'note'] as const

export interface FieldChange {
  field: (typeof itemFields)[number]
  from: string | number | null
  to: string | number | null
}

/** Compares the items of a check before (none for a new check) and after a push. */
export function diffItems(before: readonly PushedItem[], after: readonly PushedItem[]): ItemDiff {
  const old = new Map(before.map((item) => [item.external_id, item]))
  const kept = new Set(after.map((item) => item.external_id))
  const matched = after.flatMap((item) => {
    const previous = old.get(item.external_id)
    return previous === undefined ? [] : [{ item, changes: changesOf(previous, item) }]
  })
  const order = after.filter((item) => old.has(item.external_id)).map((item) => item.external_id)
  const orderBefore = before.filter((item) => kept.has(item.external_id)).map((item) => item.external_id)
  return {
    added: after.filter((item) => !old.has(item.external_id)).map(pushedFields),
    removed: before.filter((item) => !kept.has(item.external_id)).map(pushedFields),
    changed: matched
      .filter(({ changes }) => changes.length > 0)
      .map(({ item, changes }) => ({ external_id: item.external_id, name: item.name, changes })),
    unchanged: matched.filter(({ changes }) => changes.length === 0).length,
    ...(order.some((id, index) => id !== orderBefore[index]) && { reordered: true }),
  }
}

function changesOf(before: PushedItem, after: PushedItem): FieldChange[] {
  return itemFields
    .filter((field) => before[field] !== after[field])
    .map((field) => ({ field, from: before[field], to: after[field] }))
}

function pushedFields({ external_id, name, quantity, price_cents, note }: PushedItem): PushedItem {
  return { external_id, name, quantity, price_cents, note }
}

/** Fields of a check outside its items. */
export const checkFields = [
  'table.number',
  'status',
  'totals.subtotal_cents',
  'totals.tax_cents',
  'totals.total_cents',
] as const

/** A field outside the items that a push changed. */
export interface CheckChange {
  field: (typeof checkFields)[number]
  from: string | number
  to: string | number
}

/** Returns a field's name without what its value shows: `total` for `totals.total_cents`. */
export function fieldName(field: string): string {
  return field.replace(/^totals\./, '').replace(/_cents$|\.number$/, '')
}

type Comparable = Pick<Check | Push, 'table' | 'status' | 'totals'>

/** Returns the changed fields outside the items; `diffItems` compares the items. */
export function checkChanges(before: Comparable, after: Comparable): CheckChange[] {
  const old = fieldsOf(before)
  return fieldsOf(after).flatMap(([field, to], index) => {
    const from = old[index]?.[1] ?? to
    return from === to ? [] : [{ field, from, to }]
  })
}

function fieldsOf({ table, status, totals }: Comparable): [CheckChange['field'], string | number][] {
  return [
    ['table.number', table.number],
    ['status', status],
    ['totals.subtotal_cents', totals.subtotal_cents],
    ['totals.tax_cents', totals.tax_cents],
    ['totals.total_cents', totals.total_cents],
  ]
}
