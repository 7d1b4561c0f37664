import type { TableCheck, TableClaim } from '../model/guest-table/view.ts'
import { evenShare } from './even-share.ts'
import type { PageModel } from './model.ts'

/** What this guest has taken and not paid yet. */
export function ownClaims({ claims }: TableCheck): TableClaim[] {
  return claims.filter(({ mine, status }) => mine && status === 'active')
}

/** What of a guest's own claims comes from prices alone; the rest of what they owe is tax, charges and discounts. */
export function pricesOf(claims: readonly TableClaim[]): number {
  const lines = claims.flatMap(({ items }) => items)
  return Math.round(lines.reduce((sum, { quantity, price_cents }) => sum + quantity * price_cents, 0))
}

/** What is paid in the chosen way, in cents, without the tip. */
export function amountOf(check: TableCheck, { mode, people }: Pick<PageModel, 'mode' | 'people'>): number {
  if (mode === 'mine') return ownClaims(check).reduce((sum, { amount_cents }) => sum + amount_cents, 0)
  return mode === 'even' ? evenShare(check, people) : Math.max(check.balance_cents, 0)
}

/** The tip on an amount in cents; `undefined` for what is no amount. `digits` are those of the currency's minor unit. */
export function tipOf(tip: PageModel['tip'], amount: number, digits: number): number | undefined {
  if ('percent' in tip) return Math.round((amount * tip.percent) / 100)
  const typed = tip.typed.trim().replace(',', '.')
  if (typed === '') return 0
  if (!/^\d{1,6}(\.\d*)?$/.test(typed)) return undefined
  return Math.round(Number(typed) * 10 ** digits)
}
