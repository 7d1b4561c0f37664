import type { TableCheck, TableClaim } from '../../model/guests/guest-table.ts'
import { digitsOf, minorUnitsIn } from '../../model/text/money.ts'
import type { PageModel, PayMode } from './model.ts'

/** Returns the unpaid claims of the guest who views the page. */
export function ownClaims({ claims }: TableCheck): TableClaim[] {
  return claims.filter(({ mine, status }) => mine && status === 'active')
}

type PricedLine = Pick<TableClaim['items'][number], 'quantity' | 'price_cents'>

/** Sums the prices of lines as they are shown, each rounded, in cents. */
export function pricesOf(lines: readonly PricedLine[]): number {
  return lines.reduce((sum, { quantity, price_cents }) => sum + Math.round(quantity * price_cents), 0)
}

/**
 * Sums the prices of the guest's unpaid items, in cents. A claimed line keeps its price at the time of the claim. The claim's
 * amount follows the current check (contract section 7), so the check's prices count. The rest of the amount is tax,
 * charges and discounts.
 */
export function ownPrices(check: TableCheck): number {
  const priceOf = new Map(check.items.map(({ external_id, price_cents }) => [external_id, price_cents]))
  const lines = ownClaims(check).flatMap(({ items }) => items)
  return pricesOf(
    lines.map((line) => ({ ...line, price_cents: priceOf.get(line.external_id) ?? line.price_cents })),
  )
}

/** Sums the amounts of claims or payments, in cents. */
export function sumOf(parts: readonly { amount_cents: number }[]): number {
  return parts.reduce((sum, { amount_cents }) => sum + amount_cents, 0)
}

/** A payment as the bar and the form show it, in cents; `tip` is `undefined` while the typed text is no amount. */
export interface Due {
  mode: PayMode
  amount: number
  tip: number | undefined
  sum: number
}

/** Returns what the guest is about to pay. A closed check is paid as a whole. */
export function dueOf(check: TableCheck, model: PageModel): Due {
  const mode =
    check.status === 'closed' ? 'all' : (model.mode ?? (ownClaims(check).length > 0 ? 'mine' : 'all'))
  const amount = amountOf(check, mode, model.people)
  const tip = tipOf(model.tip, amount, digitsOf(model.view.location.currency))
  return { mode, amount, tip, sum: amount + (tip ?? 0) }
}

/** Returns the amount that a pay mode comes to, in cents without the tip. */
export function amountOf(check: TableCheck, mode: PayMode, people: number): number {
  if (mode === 'mine') return sumOf(ownClaims(check))
  return mode === 'even' ? evenShare(check, people) : leftOf(check)
}

/** Returns the unpaid part of a check, in cents. */
export function leftOf({ balance_cents }: Pick<TableCheck, 'balance_cents'>): number {
  return Math.max(balance_cents, 0)
}

/** Returns one person's share of an even split, in cents. The last share absorbs the rounding, so that the shares add up. */
export function evenShare(
  { even_split_cents, balance_cents }: { even_split_cents: number; balance_cents: number },
  people: number,
): number {
  const share = Math.floor(even_split_cents / people)
  const rest = even_split_cents - share * people
  return balance_cents - share <= rest ? leftOf({ balance_cents }) : share
}

/** Typed tips are below it, in major units. */
const MOST_TIP = 1_000_000

/**
 * Returns the tip on an amount, both in cents; `undefined` when the typed text is no amount.
 * @param digits Decimals of the currency's minor unit.
 */
export function tipOf(tip: PageModel['tip'], amount: number, digits: number): number | undefined {
  if ('percent' in tip) return Math.round((amount * tip.percent) / 100)
  if (tip.typed.trim() === '') return 0
  const typed = minorUnitsIn(tip.typed, digits)
  return typed !== undefined && typed < MOST_TIP * 10 ** digits ? typed : undefined
}
