import type { PushedItem } from '../model/check.ts'
import { some, type PushSeen } from './finding.ts'

/**
 * Finds a push that takes the total below the payments: an item was taken off the bill after payment, or the POS booked
 * the payment as a negative line, which the service counts a second time.
 */
export function overpaid({ push, before, outcome }: Pick<PushSeen, 'push' | 'before' | 'outcome'>) {
  if (before === null || outcome !== 'updated' || before.paid_cents === 0) return undefined
  const due = before.paid_cents - push.totals.total_cents
  if (due <= 0 || due <= -before.balance_cents) return undefined
  const sums = `The push sets total_cents to ${push.totals.total_cents}, but guests paid ${before.paid_cents}: ${due} cents too much.`
  const negative = newNegativeLines(before.items, push.items)
  const lines = some(negative.map(({ external_id, name, sum }) => `${external_id} "${name}" (${sum} cents)`))
  if (negative.some(({ sum }) => -sum === before.paid_cents))
    return `${sums} The line ${lines} looks like a booked payment, so the payment counts twice. Do not push payments as items: the service subtracts them itself.`
  const because = negative.length === 0 ? '' : ` The new line is ${lines}.`
  return `${sums}${because} The service does not return the difference. Refund it first, then push the lower total.`
}

/** Returns the lines with a negative sum that the push adds or lowers, with that change in cents. */
function newNegativeLines(before: readonly PushedItem[], after: readonly PushedItem[]) {
  const sums = new Map(before.map((item) => [item.external_id, sumOf(item)]))
  return after
    .map((item) => ({ ...item, sum: sumOf(item) - (sums.get(item.external_id) ?? 0) }))
    .filter((item) => item.price_cents < 0 && item.sum < 0)
}

function sumOf({ quantity, price_cents }: PushedItem): number {
  return Math.round(quantity * price_cents)
}
