import chalk from 'chalk'
import type { Check } from '../../model/check.ts'
import type { ClaimView, FeedbackView, PaymentView } from '../../model/guests/records.ts'
import type { GuestAct, GuestsReport } from '../../client.ts'
import { count } from '../../model/text/count.ts'
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

/** Renders an act of played guests in one line. */
export const renderGuestAct = renderer((act: GuestAct, currency: string | undefined): string => {
  const who = `${chalk.bold(printable(act.external_check_id))}  ${printable(act.guest_name)}`
  return `${who}  ${doneBy(act, (cents) => price(cents, currency))}`
})

export const renderGuestsReport = renderer(
  ({ checks, guests, acts, stuck, ...sums }: GuestsReport, currency: string | undefined): string => {
    const money = (cents: number) => price(cents, currency)
    const counts = [
      count(acts.claim, 'claim'),
      count(acts.pay, 'payment'),
      count(acts.refund, 'refund'),
      count(acts.rate, 'rating'),
      ...(acts.refused > 0 ? [`${acts.refused} refused`] : []),
    ]
    if (checks === 0) return 'No open check has a balance.'
    return [
      `${count(guests, 'guest')} at ${count(checks, 'check')}: ${counts.join(', ')}`,
      `Paid ${money(sums.paid_cents)}, tips ${money(sums.tip_cents)}, refunded ${money(sums.refunded_cents)}`,
      ...(stuck.length > 0 ? [chalk.yellow(`Cannot be paid: ${stuck.map(printable).join(', ')}`)] : []),
    ].join('\n')
  },
)

function doneBy(act: GuestAct, money: (cents: number) => string): string {
  if (act.act === 'refused') return chalk.yellow(`${act.tried} refused: ${act.code}`)
  if (act.act === 'decline') return chalk.yellow('card declined')
  if (act.act === 'rate') return `rates ${'★'.repeat(act.resource.rating).padEnd(5, '☆')}`
  if (act.act === 'refund') return `gets ${money(act.resource.refunded_cents)} back`
  if (act.act === 'pay')
    return chalk.green(`pays ${money(act.resource.amount_cents)}${tipOf(act.resource, money)}`)
  const quantity = act.resource.items.map((item) => item.quantity).join(', ')
  const verb = act.act === 'claim' ? 'claims' : 'releases'
  return `${verb} ${quantity} × ${printable(act.item_name)}  ${money(act.resource.amount_cents)}`
}

function tipOf({ tip_cents }: PaymentView, money: (cents: number) => string): string {
  return tip_cents > 0 ? `, tip ${money(tip_cents)}` : ''
}

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
