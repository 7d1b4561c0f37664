import type { Push } from '../model/check.ts'
import type { PushSeen } from './finding.ts'

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
