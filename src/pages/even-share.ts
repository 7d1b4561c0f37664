/**
 * What one of so many people pays when a bill is split evenly, in cents: never more than is left, and the last one takes
 * what the others' rounding leaves, so that the shares add up.
 */
export function evenShare(
  { even_split_cents, balance_cents }: { even_split_cents: number; balance_cents: number },
  people: number,
): number {
  const share = Math.floor(even_split_cents / people)
  return balance_cents - share < people ? Math.max(balance_cents, 0) : share
}
