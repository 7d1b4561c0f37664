import type { OrderedPush, Push, StoredCheck } from '../model/check.ts'
import { claimableQuantity, roundQuantity } from '../model/guests/claimed-items.ts'
import { type PushSeen, some } from './finding.ts'

/**
 * Finds totals that match neither the lines nor each other. Two ways of pricing are valid. Tax on top: the lines add up
 * to the subtotal. Tax included: the lines add up to the total, and POS systems send the net or the gross sum as
 * subtotal; both are accepted.
 */
export function totalsMismatch({ push: { items, totals } }: Pick<PushSeen, 'push'>): string | undefined {
  const wrong = [...wrongLines(items, totals), ...wrongTotal(totals)]
  if (wrong.length === 0) return undefined
  return `The totals do not add up: ${wrong.join('; ')}. Guests pay their items' share of total_cents, so they would pay wrong amounts. Push every charge and discount as an item (a discount has a negative price_cents), with the totals at the same time.`
}

function wrongLines(items: Push['items'], { subtotal_cents, total_cents }: Push['totals']): string[] {
  const { sum, slack } = sumOf(items)
  const near = (cents: number) => Math.abs(sum - cents) <= slack
  if (near(subtotal_cents) || near(total_cents)) return []
  return [
    `the items add up to ${round(sum)}, which is neither subtotal_cents ${subtotal_cents} nor total_cents ${total_cents}`,
  ]
}

function wrongTotal({ subtotal_cents, tax_cents, total_cents }: Push['totals']): string[] {
  const taxIncluded = subtotal_cents === total_cents
  if (taxIncluded || subtotal_cents + tax_cents === total_cents) return []
  return [
    `subtotal_cents ${subtotal_cents} plus tax_cents ${tax_cents} is ${subtotal_cents + tax_cents}, not total_cents ${total_cents}`,
  ]
}

/** Adds up the lines. A POS rounds each weighed line to a cent, so each may be off by less than one. */
function sumOf(items: Push['items']): { sum: number; slack: number } {
  const lines = items.map(({ quantity, price_cents }) => round(quantity * price_cents))
  return {
    sum: round(lines.reduce((sum, line) => sum + line, 0)),
    slack: lines.filter((line) => !Number.isInteger(line)).length,
  }
}

/** Rounds to thousandths of a cent, because 0.1 × 3 is inexact in binary, and 0.333333 × 3 means 1. */
function round(cents: number): number {
  return Number.isInteger(cents) ? cents : Number(cents.toFixed(3))
}

/**
 * Finds quantities with more than three decimals: guests claim in thousandths, so claims would differ from the push.
 */
export function quantityPrecision({ push: { items } }: Pick<PushSeen, 'push'>): string | undefined {
  const precise = items.filter(({ quantity }) => roundQuantity(quantity) !== quantity)
  if (precise.length === 0) return undefined
  const names = precise.map(
    ({ external_id, quantity }) =>
      `${external_id} has quantity ${quantity}, of which ${claimableQuantity(quantity)} can be claimed`,
  )
  return `Quantities have more than 3 decimals: ${some(names)}. The check keeps them as pushed, but guests claim in thousandths. Round quantities to 3 decimals.`
}

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
