import type { Check } from '../../../model/check.ts'
import type { PaymentView } from '../../../model/guests/payment.ts'
import { isList, isObject, type Json, type View } from '../convergence/view.ts'

/** A check at the service, with its payments. */
export interface KnownCheck {
  check: Check
  payments: readonly PaymentView[]
}

/** Values by name or path; those of all elements of a list under one path. Absent values and `null` have none. */
export type Values = ReadonlyMap<string, readonly Json[]>

/**
 * Returns the facts about a check that a receiver can know from deliveries. Claims, and amounts of the check that change
 * without a `check.*` event, are facts only as sums of payments.
 */
export function factsOf({ check, payments }: KnownCheck): Values {
  const { status, table, revision, totals, items } = check
  const facts = new Map<string, Json[]>()
  const add = (name: string, values: readonly (Json | undefined)[]) =>
    facts.set(
      name,
      values.filter((value) => value !== undefined && value !== null),
    )
  /** Receivers also keep amounts in whole units of the currency, as numbers and as texts. */
  const addCents = (name: string, values: readonly number[]) => {
    add(name, values)
    add(`${name} / 100`, values.map(units))
    add(
      `${name} / 100 as text`,
      values.map((cents) => units(cents).toFixed(2)),
    )
  }
  add('status', [status])
  add('status is open', [status === 'open'])
  add('status is closed', [status === 'closed'])
  add('table.number', [table.number])
  add('revision', [revision])
  addCents('totals.subtotal_cents', [totals.subtotal_cents])
  addCents('totals.tax_cents', [totals.tax_cents])
  addCents('totals.total_cents', [totals.total_cents])
  addCents('balance_cents', [check.balance_cents])
  add('number of items', [items.length])
  add(
    'items[].external_id',
    items.map(({ external_id }) => external_id),
  )
  add(
    'items[].name',
    items.map(({ name }) => name),
  )
  add(
    'items[].quantity',
    items.map(({ quantity }) => quantity),
  )
  add(
    'items[].note',
    items.map(({ note }) => note),
  )
  addCents(
    'items[].price_cents',
    items.map(({ price_cents }) => price_cents),
  )
  add('number of payments', [payments.length])
  for (const field of ['amount_cents', 'tip_cents', 'refunded_cents'] as const) {
    const amounts = payments.map((payment) => payment[field])
    addCents(`payments[].${field}`, amounts)
    addCents(`sum of payments[].${field}`, [sum(amounts)])
  }
  addCents('paid_cents', [check.paid_cents])
  return facts
}

/** The values of a view by path. Keys of maps by item or by check count as values. */
export function valuesOf(view: View, { check }: KnownCheck): Values {
  const values = new Map<string, Json[]>()
  const ids = new Set(check.items.map(({ external_id }) => external_id))
  const add = (path: string, value: Json) => values.set(path, [...(values.get(path) ?? []), value])
  const walk = (node: Json, path: string): void => {
    if (isList(node)) for (const element of node) walk(element, `${path}[]`)
    else if (isObject(node))
      for (const [key, value] of Object.entries(node)) {
        const isOwn = ids.has(key) || key.startsWith('{')
        if (isOwn) add(`keys of ${path === '' ? 'the response' : path}`, key)
        walk(value, isOwn ? `${path}{}` : path === '' ? key : `${path}.${key}`)
      }
    else if (node !== null) add(path, node)
  }
  if (view.kind === 'json') walk(view.value, '')
  return values
}

/** Returns true when both hold the same values, in any order. */
export function sameValues(one: readonly Json[] = [], other: readonly Json[] = []): boolean {
  return one.length === other.length && sorted(one) === sorted(other)
}

function sorted(values: readonly Json[]): string {
  return values
    .map((value) => JSON.stringify(value))
    .sort()
    .join()
}

function units(cents: number): number {
  return cents / 100
}

function sum(amounts: readonly number[]): number {
  return amounts.reduce((all, amount) => all + amount, 0)
}
