import chalk from 'chalk'
import type { Check } from '../../model/check.ts'
import type { ClaimView } from '../../model/guests/claim.ts'
import type { FeedbackView } from '../../model/guests/feedback.ts'
import type { PaymentView } from '../../model/guests/payment.ts'
import { price, printable, renderer } from './text.ts'

/** Renders a claim with its items; `items` of the check provide their names. */
export const renderClaim = renderer(
  (
    claim: ClaimView,
    items: readonly Pick<Check['items'][number], 'external_id' | 'name'>[],
    currency: string | undefined,
  ): string => {
    const names = new Map(items.map(({ external_id, name }) => [external_id, name]))
    const lines = claim.items.map(({ external_id, quantity, price_cents }) => {
      const name = names.get(external_id)
      const [first, ...more] = name === undefined ? [external_id] : [name, chalk.dim(external_id)]
      return `  ${[`${quantity} × ${first}`, price(price_cents, currency), ...more].join('  ')}`
    })
    const word = {
      active: chalk.green('claimed'),
      paid: chalk.green('paid'),
      released: chalk.yellow('released'),
    }
    const owes = claim.status === 'active' ? [`owes ${price(claim.amount_cents, currency)}`] : []
    return [summary(word[claim.status], claim, owes), ...lines].join('\n')
  },
)

/** Renders a payment or a refund; `check` provides what is left to pay. */
export const renderPayment = renderer((payment: PaymentView, check: Pick<Check, 'balance_cents'>): string => {
  const { amount_cents, tip_cents, refunded_cents, currency, status } = payment
  const word = { succeeded: 'paid', partially_refunded: 'partly refunded', refunded: 'refunded' }[status]
  const parts = [
    price(amount_cents, currency),
    ...(tip_cents > 0 ? [`tip ${price(tip_cents, currency)}`] : []),
    ...(refunded_cents > 0 ? [`refunded ${price(refunded_cents, currency)}`] : []),
  ]
  const colour = status === 'succeeded' ? chalk.green : chalk.yellow
  return `${summary(colour(word), payment, parts)}\n  ${left(check, currency)}`
})

export const renderFeedback = renderer((feedback: FeedbackView): string => {
  const stars = '★'.repeat(feedback.rating).padEnd(5, '☆')
  const comment = feedback.comment === null ? [] : [`  ${printable(feedback.comment)}`]
  return [summary(chalk.green('rated'), feedback, [stars]), ...comment].join('\n')
})

function left({ balance_cents }: Pick<Check, 'balance_cents'>, currency: string): string {
  if (balance_cents > 0) return `${price(balance_cents, currency)} is left to pay`
  return balance_cents === 0
    ? chalk.green('the check is fully paid')
    : chalk.yellow(`overpaid by ${price(-balance_cents, currency)}`)
}

function summary(
  word: string,
  { id, external_check_id, guest_name }: { id: string; external_check_id: string; guest_name: string | null },
  parts: readonly string[],
): string {
  const who = guest_name === null ? [] : [printable(guest_name)]
  return [word, chalk.bold(printable(external_check_id)), ...who, ...parts, chalk.dim(id)].join('  ')
}
