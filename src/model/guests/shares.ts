import type { Check, PushedItem } from '../check.ts'
import { type Claim, type ClaimedItem } from './records.ts'
import { claimableQuantity, claimedQuantities } from './claimed-items.ts'

/** Input for computing shares: totals, lines and the unpaid balance. */
export interface Bill extends Pick<Check, 'totals' | 'balance_cents'> {
  items: readonly Pick<PushedItem, 'external_id' | 'quantity' | 'price_cents'>[]
}
export type ClaimOnBill = Pick<Claim, 'id' | 'status'> & {
  items: readonly Pick<ClaimedItem, 'external_id' | 'quantity'>[]
}

/**
 * Returns the amount that each active claim owes by the current check, in cents (contract section 7). A claim owes its
 * lines' share of the total, rounded half up. So tax, charges and discounts are shared in proportion. The claim that
 * completes the check owes the rest of the balance. The sum never exceeds the balance: earlier payments by amount
 * reduce the youngest claims first. `claims` are oldest first.
 */
export function owed(bill: Bill, claims: readonly ClaimOnBill[]): Map<string, number> {
  const active = claims.filter(({ status }) => status === 'active')
  const amounts = new Map<string, number>()
  if (active.length === 0) return amounts
  const weights = weightsOf(bill.items)
  const whole = weightOf(bill.items, weights)
  const completing = isComplete(bill, claims, weights)
    ? active.findLast(({ items }) => weightOf(items, weights) > 0n)
    : undefined
  let left = Math.max(bill.balance_cents, 0)
  for (const claim of active) {
    const share = shareOf(bill.totals.total_cents, weightOf(claim.items, weights), whole)
    const amount = claim === completing ? left : Math.min(share, left)
    amounts.set(claim.id, amount)
    left -= amount
  }
  return amounts
}

/**
 * Returns the claims with current amounts for the active ones. A claim whose amount is unchanged stays the same object.
 */
export function repriceClaims(bill: Bill, claims: readonly Claim[]): Claim[] {
  const amounts = owed(bill, claims)
  return claims.map((claim) => {
    const amount_cents = amounts.get(claim.id) ?? claim.amount_cents
    return amount_cents === claim.amount_cents ? claim : { ...claim, amount_cents }
  })
}

type Weights = ReadonlyMap<string, bigint>

/**
 * Returns the weight of one unit of each line: its price. Discounts and free lines weigh nothing. When no line has a
 * price, all units of free lines weigh the same, so that charges outside the lines are shared, too.
 */
function weightsOf(items: Bill['items']): Weights {
  const isFree = items.every(({ price_cents }) => price_cents <= 0)
  return new Map(
    items.map(({ external_id, price_cents }) => [
      external_id,
      isFree && price_cents === 0 ? 1n : BigInt(Math.max(price_cents, 0)),
    ]),
  )
}

function weightOf(lines: ClaimOnBill['items'], weights: Weights): bigint {
  return lines.reduce(
    (sum, { external_id, quantity }) => sum + inThousandths(quantity) * (weights.get(external_id) ?? 0n),
    0n,
  )
}

/** Returns true when no line with a weight has an unclaimed quantity. */
function isComplete({ items }: Bill, claims: readonly ClaimOnBill[], weights: Weights): boolean {
  const claimed = claimedQuantities(claims, ['active', 'paid'])
  return items.every(
    ({ external_id, quantity }) =>
      weights.get(external_id) === 0n || (claimed.get(external_id) ?? 0) >= claimableQuantity(quantity),
  )
}

/** Returns a quantity in thousandths. A bigint, because products with cents exceed the precision of a double. */
function inThousandths(quantity: number): bigint {
  return Number.isInteger(quantity)
    ? BigInt(quantity) * 1000n
    : BigInt(Math.round(claimableQuantity(quantity) * 1000))
}

function shareOf(cents: number, part: bigint, whole: bigint): number {
  return whole === 0n ? 0 : Number((2n * BigInt(cents) * part + whole) / (2n * whole))
}
