import type { Check, CheckItem, PushedItem } from '../check.ts'
import type { Claim, ClaimedItem } from './records.ts'

/**
 * Returns the items of a check with their claimed and paid quantities; released claims are ignored. On a fully paid
 * check the whole quantity of every item is paid (contract section 6, rule 3).
 */
export function withClaims(
  items: readonly PushedItem[],
  claims: readonly Claim[],
  fullyPaid: boolean,
): CheckItem[] {
  if (claims.length === 0 && !fullyPaid) return items.map((item) => withQuantities(item, 0, 0))
  const claimed = claimedQuantities(claims, ['active', 'paid'])
  const paid = claimedQuantities(claims, ['paid'])
  return items.map((item) => {
    const { external_id, quantity } = item
    const paid_quantity = fullyPaid ? quantity : (paid.get(external_id) ?? 0)
    return withQuantities(item, claimed.get(external_id) ?? 0, paid_quantity)
  })
}

/** Returns true when something was paid and nothing is owed. */
export function isFullyPaid({
  paid_cents,
  balance_cents,
}: Pick<Check, 'paid_cents' | 'balance_cents'>): boolean {
  return paid_cents > 0 && balance_cents <= 0
}

/**
 * Returns the claimable part of a quantity: rounded to thousandths, and at least 0.001. For example, 0.33333 of a pizza
 * is claimed whole as 0.333.
 */
export function claimableQuantity(quantity: number): number {
  return Math.max(roundToThousandths(quantity), 0.001)
}

/** Returns the quantity of an item that can still be claimed. */
export function unclaimedQuantity({
  quantity,
  claimed_quantity,
}: Pick<CheckItem, 'quantity' | 'claimed_quantity'>): number {
  return roundToThousandths(claimableQuantity(quantity) - claimed_quantity)
}

/** Returns true when guests can claim more of an item. A line with a negative price is a discount, which cannot be claimed. */
export function isClaimable(item: Pick<CheckItem, 'quantity' | 'claimed_quantity' | 'price_cents'>): boolean {
  return item.price_cents >= 0 && unclaimedQuantity(item) > 0
}

/** Copies field by field: on Node 20, `{ ...item, more }` takes longer than the rest of a push. */
export function withQuantities(item: PushedItem, claimed_quantity: number, paid_quantity: number): CheckItem {
  const { external_id, name, quantity, price_cents, note } = item
  return { external_id, name, quantity, price_cents, note, claimed_quantity, paid_quantity }
}

/** Returns the claimed quantity of each item, by external id, for claims with one of the statuses. */
export function claimedQuantities(
  claims: Iterable<Pick<Claim, 'status'> & { items: readonly Omit<ClaimedItem, 'price_cents'>[] }>,
  statuses: readonly Claim['status'][],
): Map<string, number> {
  const quantities = new Map<string, number>()
  for (const claim of claims) {
    if (!statuses.includes(claim.status)) continue
    for (const { external_id, quantity } of claim.items)
      quantities.set(external_id, roundToThousandths((quantities.get(external_id) ?? 0) + quantity))
  }
  return quantities
}

/**
 * Rounds to three decimals, half up, because binary fractions add up inexactly (0.1 + 0.2). Rounds the shortest decimal that
 * stands for the number: 1.0005 is stored as a little less, and becomes 1.001.
 */
export function roundToThousandths(quantity: number): number {
  return Number.isInteger(quantity) ? quantity : Math.round(Number((quantity * 1000).toPrecision(15))) / 1000
}
