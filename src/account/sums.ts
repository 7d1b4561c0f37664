import { checkKey, type StoredCheck } from '../model/check.ts'
import type { Everything } from '../model/records.ts'
import type { AccountOfCheck, Problem, Sums } from '../model/simulator/account.ts'

const none: Sums = {
  pushed_cents: 0,
  claimed_cents: 0,
  paid_cents: 0,
  tipped_cents: 0,
  refunded_cents: 0,
  owed_cents: 0,
  paid_elsewhere_cents: 0,
  overpaid_cents: 0,
}

/** Returns the amounts of each check, and the codes of its problems. */
export function accountOfChecks(
  checks: readonly StoredCheck[],
  { claims, payments }: Pick<Everything, 'claims' | 'payments'>,
  problems: readonly Problem[],
): AccountOfCheck[] {
  const claimsOf = groupedBy(claims, addressOf)
  const paymentsOf = groupedBy(payments, addressOf)
  const problemsOf = groupedBy(problems, ({ external_check_id }) => external_check_id)
  return checks.map((check) => {
    const key = checkKey(check)
    const paid = paymentsOf.get(key) ?? []
    const claimed = (claimsOf.get(key) ?? []).filter(({ status }) => status !== 'released')
    const left = Math.max(check.balance_cents, 0)
    return {
      external_check_id: check.external_id,
      table: check.table,
      status: check.status,
      pushed_cents: check.totals.total_cents,
      claimed_cents: total(claimed.map(({ amount_cents }) => amount_cents)),
      paid_cents: total(paid.map(({ amount_cents }) => amount_cents)),
      tipped_cents: total(paid.map(({ tip_cents }) => tip_cents)),
      refunded_cents: total(paid.map(({ refunded_cents }) => refunded_cents)),
      owed_cents: check.status === 'open' ? left : 0,
      paid_elsewhere_cents: check.status === 'closed' ? left : 0,
      overpaid_cents: Math.max(-check.balance_cents, 0),
      problems: [...new Set(problemsOf.get(check.external_id)?.map(({ code }) => code))],
    }
  })
}

/** Adds up the amounts of checks. */
export function sumOf(checks: readonly Sums[]): Sums {
  const sums = { ...none }
  for (const name of Object.keys(none) as (keyof Sums)[])
    sums[name] = total(checks.map((check) => check[name]))
  return sums
}

/** Groups records by a key, each group in the order of the records. */
export function groupedBy<T>(records: readonly T[], keyOf: (record: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>()
  for (const record of records) {
    const key = keyOf(record)
    const group = groups.get(key)
    if (group === undefined) groups.set(key, [record])
    else group.push(record)
  }
  return groups
}

function addressOf({
  location_id,
  external_check_id,
}: {
  location_id: string
  external_check_id: string
}): string {
  return checkKey({ location_id, external_id: external_check_id })
}

function total(amounts: readonly number[]): number {
  return amounts.reduce((sum, cents) => sum + cents, 0)
}
