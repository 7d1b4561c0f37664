import type { Finding } from './finding.ts'
import { some } from './finding.ts'
import type { CheckItem, StoredCheck } from '../model/check.ts'

/** Describes items that stand on two open checks with one id: tables were merged, and the first check was kept. */
export function itemOnTwoChecks(check: StoredCheck, other: StoredCheck, same: readonly CheckItem[]): Finding {
  const names = some(same.map(({ external_id, name }) => `${external_id} "${name}"`))
  return {
    code: 'item_on_two_checks',
    message: `The same items are on two open checks, ${check.external_id} and ${other.external_id}: ${names}. Guests of both tables can pay for them. After merging tables, push the emptied check too: without the items, and closed.`,
  }
}

/** Describes a check that came a second time under another external id; `undefined` when the contents differ. */
export function duplicateCheck(check: StoredCheck, other: StoredCheck): Finding | undefined {
  if (sharedContent(check) !== sharedContent(other)) return undefined
  return {
    code: 'duplicate_check',
    message: `The check was pushed under two external ids: ${check.external_id} has the same table, items and totals as ${other.external_id}. Guests at table ${check.table.number} see the bill twice. Store the external id with the check before the first push, and use it in every retry.`,
  }
}

function sharedContent({ table, items, totals }: StoredCheck): string {
  const lines = items.map(({ external_id, name, quantity, price_cents }) => [
    external_id,
    name,
    quantity,
    price_cents,
  ])
  return JSON.stringify([table.number, lines, totals.subtotal_cents, totals.tax_cents, totals.total_cents])
}
