import type { OrderedPush, StoredCheck } from '../model/check.ts'
import type { PushSeen } from './finding.ts'

const FACTOR = 100

/** Finds a push whose amounts all are 100 times those of the check, or a hundredth: cents and major units were mixed up. */
export function unitChange({ push, before, outcome }: Pick<PushSeen, 'push' | 'before' | 'outcome'>) {
  if (before === null || (outcome !== 'updated' && outcome !== 'conflict')) return undefined
  const [small, large] = push.totals.total_cents > before.totals.total_cents ? [before, push] : [push, before]
  // Most pushes end here.
  if (!isFactor(small.totals.total_cents, large.totals.total_cents)) return undefined
  const pairs = commonPrices(small, large)
  if (pairs.length < 2 || !pairs.every(([less, more]) => isFactor(less, more))) return undefined
  // Some POS systems give items away at one cent.
  if (pairs.every(([less]) => Math.abs(less) === 1)) return undefined
  return `All amounts are ${FACTOR} times ${large === push ? 'larger' : 'smaller'} than before: total_cents was ${before.totals.total_cents} and is now ${push.totals.total_cents}. Guests would pay these amounts. Push integers in the minor unit of the currency, such as cents, from every place that pushes checks.`
}

/** Returns the prices other than 0 of the items that both states have. */
function commonPrices(one: OrderedPush | StoredCheck, other: OrderedPush | StoredCheck): [number, number][] {
  const prices = new Map(one.items.map(({ external_id, price_cents }) => [external_id, price_cents]))
  return other.items.flatMap(({ external_id, price_cents }): [number, number][] => {
    const price = prices.get(external_id)
    return price === undefined || (price === 0 && price_cents === 0) ? [] : [[price, price_cents]]
  })
}

/** True when `more` is a hundred times `less`, which may have been rounded or cut to a whole number. */
function isFactor(less: number, more: number): boolean {
  return more !== 0 && Math.abs(more / FACTOR - less) < 1 && Math.abs(more) >= FACTOR
}
