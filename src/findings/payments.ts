import type { PushedItem } from '../model/check.ts'
import { type Finding, type PushSeen, some } from './finding.ts'

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

/** How long a POS may take to close a paid check, in minutes of the service's clock. */
const MINUTES = 15

/** Finds a check that was paid in full at `paidAt` and that is still open. */
export function paidNotClosed(external_check_id: string, paidAt: Date, now: Date): Finding | undefined {
  const minutes = Math.floor((now.getTime() - paidAt.getTime()) / 60_000)
  if (minutes < MINUTES) return undefined
  return {
    code: 'paid_not_closed',
    message: `Check ${external_check_id} was fully paid ${minutes} minutes ago and is still open. The POS may charge the next party on it. When check.fully_paid arrives, close the check: push it with the status closed.`,
  }
}
