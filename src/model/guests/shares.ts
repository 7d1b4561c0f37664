import type { Check, PushedItem } from '../check.ts'
import { type Claim, type ClaimedItem } from './claim.ts'
import { claimableQuantity, claimedQuantities } from './claimed-items.ts'

/** What shares are made of: the bill, its lines, and what is still to be paid. */
export interface Bill extends Pick<Check, 'totals' | 'balance_cents'> {
  items: readonly Pick<PushedItem, 'external_id' | 'quantity' | 'price_cents'>[]
}
export type ClaimOnBill = Pick<Claim, 'id' | 'status'> & {
  items: readonly Pick<ClaimedItem, 'external_id' | 'quantity'>[]
}

/**
 * What each active claim owes, in cents, by the check as it is now (contract section 7). A claim owes its lines' share of
 * the total, rounded half up, so that tax, charges and discounts are shared in proportion; the one that completes the
 * check owes what the others leave of the balance. Together they never owe more than the balance: what a payment by
 * amount has already paid is taken off the youngest claims first. `claims` are oldest first.
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

/** The same claims, in which the active ones owe what they do now; those that owe the same are the same objects. */
export function settled(bill: Bill, claims: readonly Claim[]): Claim[] {
  const amounts = owed(bill, claims)
  return claims.map((claim) => {
    const amount_cents = amounts.get(claim.id) ?? claim.amount_cents
    return amount_cents === claim.amount_cents ? claim : { ...claim, amount_cents }
  })
}

/** What somebody who claimed these lines now would owe, in cents; `claims` are those there are, oldest first. */
export function wouldOwe(bill: Bill, claims: readonly ClaimOnBill[], items: ClaimOnBill['items']): number {
  const wanted: ClaimOnBill = { id: '', status: 'active', items }
  return owed(bill, [...claims, wanted]).get(wanted.id) ?? 0
}

/** An amount split into as many even parts, which add up to it: the first ones are a cent more where it does not divide. */
export function evenShares(cents: number, ways: number): number[] {
  const share = Math.floor(cents / ways)
  const more = cents - share * ways
  return Array.from({ length: ways }, (_, index) => (index < more ? share + 1 : share))
}

type Weights = ReadonlyMap<string, bigint>

/**
 * What a unit of each line counts for: its price. Discount lines and free ones count for nothing, unless nothing has a
 * price: then every unit of what is free counts alike, lest nobody owe a charge that stands outside of the lines.
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
    (sum, { external_id, quantity }) => sum + thousandths(quantity) * (weights.get(external_id) ?? 0n),
    0n,
  )
}

/** Whether nothing that counts is left to be claimed. */
function isComplete({ items }: Bill, claims: readonly ClaimOnBill[], weights: Weights): boolean {
  const claimed = claimedQuantities(claims, ['active', 'paid'])
  return items.every(
    ({ external_id, quantity }) =>
      weights.get(external_id) === 0n || (claimed.get(external_id) ?? 0) >= claimableQuantity(quantity),
  )
}

/** Quantities count in thousandths, as claims do; products of them with cents have more digits than a double. */
function thousandths(quantity: number): bigint {
  return Number.isInteger(quantity)
    ? BigInt(quantity) * 1000n
    : BigInt(Math.round(claimableQuantity(quantity) * 1000))
}

function shareOf(cents: number, part: bigint, whole: bigint): number {
  return whole === 0n ? 0 : Number((2n * BigInt(cents) * part + whole) / (2n * whole))
}
