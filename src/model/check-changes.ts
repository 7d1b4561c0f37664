import type { Check, Push } from './check.ts'

/** What a push changed on a check beside its items. */
export interface CheckChange {
  field: 'table.number' | 'status' | 'totals.subtotal_cents' | 'totals.tax_cents' | 'totals.total_cents'
  from: string | number
  to: string | number
}

type Comparable = Pick<Check | Push, 'table' | 'status' | 'totals'>

/** Compares a check before and after a push, its items apart; those have a diff of their own. */
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
