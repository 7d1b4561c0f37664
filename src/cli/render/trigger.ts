import chalk from 'chalk'
import type { Check } from '../../model/check.ts'
import type { ClaimView } from '../../model/claim.ts'
import type { FeedbackView } from '../../model/feedback.ts'
import type { PaymentView } from '../../model/payment.ts'
import type { Deed, Triggered } from '../trigger/play.ts'
import { price } from './price.ts'
import { printable, renderer } from './text.ts'
import { count } from './words.ts'

/** What was done, a line for each step, and the event that came of it. */
export const renderTriggered = renderer(
  ({ steps, event, external_check_id }: Triggered, currency: string | undefined): string => {
    const words = steps.map(({ step }) => step.replace('_', ' '))
    const width = Math.max(...words.map((word) => word.length))
    const lines = steps.map(
      (deed, index) =>
        `  ${chalk.dim((words[index] ?? '').padEnd(width))}  ${printable(textOf(deed, currency))}`,
    )
    const head = `${chalk.green('✓')} ${chalk.bold(event.type)}  ${event.id}  ${chalk.dim(printable(external_check_id))}`
    return [...lines, head].join('\n')
  },
)

function textOf({ resource }: Deed, currency: string | undefined): string {
  const money = (cents: number) => price(cents, currency)
  if ('rating' in resource) return feedbackText(resource)
  if ('totals' in resource) return checkText(resource, money)
  return 'tip_cents' in resource ? paymentText(resource, money) : claimText(resource, money)
}

type Money = (cents: number) => string

function checkText({ status, table, items, totals }: Check, money: Money): string {
  return `table ${table.number}, ${status}, ${count(items.length, 'item')}, total ${money(totals.total_cents)}`
}

function claimText({ id, items, amount_cents }: ClaimView, money: Money): string {
  const lines = items.map(({ external_id, quantity }) => `${quantity} × ${external_id}`)
  return `${lines.join(', ')}, owes ${money(amount_cents)}, ${id}`
}

function paymentText({ id, amount_cents, refunded_cents }: PaymentView, money: Money): string {
  return `${money(refunded_cents > 0 ? refunded_cents : amount_cents)}, ${id}`
}

function feedbackText({ rating, comment, id }: FeedbackView): string {
  return `${rating} of 5${comment === null ? '' : `, ${JSON.stringify(comment)}`}, ${id}`
}
