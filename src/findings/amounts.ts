import type { OrderedPush, Push, PushedItem, StoredCheck } from '../model/check.ts'
import { claimableQuantity, roundToThousandths } from '../model/guests/claimed-items.ts'
import { isNewer, type PushSeen, type PushToCheck, some } from './finding.ts'
import { CLOSE_PAID_CHECK, type Finding } from '../model/simulator/report.ts'

/**
 * Finds totals that match neither the lines nor each other. Two ways of pricing are valid. Tax on top: the lines add up
 * to the subtotal. Tax included: the lines add up to the total, and POS systems send the net or the gross sum as
 * subtotal; both are accepted.
 */
export function totalsMismatch({ push: { items, totals } }: Pick<PushSeen, 'push'>): string | undefined {
  const { subtotal_cents, tax_cents, total_cents } = totals
  const wrong = wrongLines(items, totals)
  const taxIncluded = subtotal_cents === total_cents
  if (!taxIncluded && subtotal_cents + tax_cents !== total_cents)
    wrong.push(
      `subtotal_cents ${subtotal_cents} plus tax_cents ${tax_cents} is ${subtotal_cents + tax_cents}, not total_cents ${total_cents}`,
    )
  if (wrong.length === 0) return undefined
  return `The totals do not add up: ${wrong.join('; ')}. Guests pay their items' share of total_cents, so they would pay wrong amounts. Push every charge and discount as an item (a discount has a negative price_cents), with the totals at the same time.`
}

function wrongLines(items: Push['items'], { subtotal_cents, total_cents }: Push['totals']): string[] {
  // 0.1 × 3 is inexact in binary, and 0.333333 × 3 means 1.
  const lines = items.map(({ quantity, price_cents }) => roundToThousandths(quantity * price_cents))
  const sum = roundToThousandths(lines.reduce((all, line) => all + line, 0))
  // A POS rounds each weighed line to a cent, and a part, such as a third, to thousandths of the price.
  const slack = items.reduce((cents, { quantity, price_cents }, at) => {
    const isRounded = !Number.isInteger(quantity) && Number(quantity.toFixed(2)) !== quantity
    return cents + (Number.isInteger(lines[at]) ? 0 : 1) + (isRounded ? Math.abs(price_cents) / 2000 : 0)
  }, 0)
  if ([subtotal_cents, total_cents].some((cents) => Math.abs(sum - cents) <= slack)) return []
  return [
    `the items add up to ${sum}, which is neither subtotal_cents ${subtotal_cents} nor total_cents ${total_cents}`,
  ]
}

/**
 * Finds quantities with more than three decimals: guests claim in thousandths, so claims would differ from the push.
 */
export function quantityPrecision({ push: { items } }: Pick<PushSeen, 'push'>): string | undefined {
  const precise = items.filter(({ quantity }) => roundToThousandths(quantity) !== quantity)
  if (precise.length === 0) return undefined
  const names = precise.map(
    ({ external_id, quantity }) =>
      `${external_id} has quantity ${quantity}, of which ${claimableQuantity(quantity)} can be claimed`,
  )
  return `Quantities have more than 3 decimals: ${some(names)}. The check keeps them as pushed, but guests claim in thousandths. Round quantities to 3 decimals.`
}

const FACTOR = 100

/**
 * Price in cents from which a single item shows a unit change. Other items must be added or removed, so that it is not the
 * correction of one price.
 */
const LARGE_CENTS = 100_000

/**
 * Finds a push whose amounts all are 100 times those of the check, or a hundredth: cents and major units were mixed up.
 * When items are added or removed, those that stay show it.
 */
export function unitChange({ push, before, outcome }: Pick<PushToCheck, 'push' | 'before' | 'outcome'>) {
  if (!isNewer(outcome)) return undefined
  // Most pushes end here.
  if (keepsAPrice(before.items, push.items)) return undefined
  const [[known, pushed] = [0, 0]] = commonPrices(before, push)
  const isLarger = Math.abs(pushed) > Math.abs(known)
  const [small, large] = isLarger ? [before, push] : [push, before]
  const pairs = commonPrices(small, large)
  if (!pairs.every(([less, more]) => isFactor(less, more))) return undefined
  // Some POS systems give items away at one cent.
  if (pairs.every(([less]) => Math.abs(less) === 1)) return undefined
  const priced = [before, push].map(
    ({ items }) => items.filter(({ price_cents }) => price_cents !== 0).length,
  )
  const areSame = priced.every((count) => count === pairs.length)
  if (areSame && !isFactor(small.totals.total_cents, large.totals.total_cents)) return undefined
  const isOneLarge = !areSame && isLarger && pairs.some(([, more]) => Math.abs(more) >= LARGE_CENTS)
  if (pairs.length < 2 && !isOneLarge) return undefined
  const what = areSame ? 'All amounts' : 'The prices of all items that stay'
  return `${what} are ${FACTOR} times ${isLarger ? 'larger' : 'smaller'} than before: total_cents was ${before.totals.total_cents}, and the push has ${push.totals.total_cents}. Guests would pay these amounts. Push integers in the minor unit of the currency, such as cents, from every place that pushes checks.`
}

/** True when an item keeps its place and its price, so that not all amounts changed. */
function keepsAPrice(before: readonly PushedItem[], after: readonly PushedItem[]): boolean {
  return after.some(({ external_id, price_cents }, at) => {
    const item = before[at]
    return price_cents !== 0 && item?.external_id === external_id && item.price_cents === price_cents
  })
}

/** Returns the prices of the items that both states have, without pairs of two zeros. */
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

/**
 * Finds a push that takes the total below the payments: an item was taken off the bill after payment, or the POS booked
 * the payment as a negative line, which the service counts a second time.
 */
export function overpaid({ push, before, outcome }: Pick<PushToCheck, 'push' | 'before' | 'outcome'>) {
  if (outcome !== 'updated' || before.paid_cents === 0) return undefined
  const due = before.paid_cents - push.totals.total_cents
  if (due <= 0 || due <= -before.balance_cents) return undefined
  const sums = `The push sets total_cents to ${push.totals.total_cents}, but guests paid ${before.paid_cents}: ${due} cents too much.`
  const negative = newNegativeLines(before.items, push.items)
  const payments = negative.filter(({ change }) => -change === before.paid_cents)
  if (payments.length > 0)
    return `${sums} The line ${named(payments)} looks like a booked payment, so the payment counts twice. Do not push payments as items: the service subtracts them itself.`
  const because = negative.length === 0 ? '' : ` New or lowered lines: ${named(negative)}.`
  return `${sums}${because} The service does not return the difference. Refund it first, then push the lower total.`
}

function named(lines: ReturnType<typeof newNegativeLines>): string {
  return some(lines.map(({ external_id, name, change }) => `${external_id} "${name}" (${change} cents)`))
}

/** Returns the lines with a negative price that the push adds or lowers, with the change of their amount in cents. */
function newNegativeLines(before: readonly PushedItem[], after: readonly PushedItem[]) {
  const amounts = new Map(before.map((item) => [item.external_id, amountOf(item)]))
  return after
    .map((item) => ({ ...item, change: amountOf(item) - (amounts.get(item.external_id) ?? 0) }))
    .filter((item) => item.price_cents < 0 && item.change < 0)
}

function amountOf({ quantity, price_cents }: PushedItem): number {
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
    message: `Check ${external_check_id} was fully paid ${minutes} minutes ago and is still open. ${CLOSE_PAID_CHECK}`,
  }
}
