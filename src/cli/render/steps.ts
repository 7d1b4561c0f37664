import chalk from 'chalk'
import type { Check } from '../../model/check.ts'
import type { ClaimView, FeedbackView, PaymentView } from '../../model/guests/records.ts'
import type { DemoStep } from '../demo.ts'
import type { Exploration } from '../scenario/explore/explore.ts'
import type { ScenarioReport, StepReport } from '../scenario/play.ts'
import type { Step } from '../scenario/schema.ts'
import { suggestion } from '../suggestion.ts'
import type { TakenStep, Triggered } from '../trigger.ts'
import { renderClaim, renderFeedback, renderPayment } from './guests.ts'
import { widthOf, wrapTo } from './layout.ts'
import { renderPush } from './push.ts'
import { count } from '../../model/text/count.ts'
import { price, printable, renderer } from './text.ts'

/** Renders a step of the demo. */
export const renderDemoStep = renderer(
  (step: DemoStep, currency: string | undefined, columns?: number): string => {
    if (step.type === 'registered')
      return `\n${chalk.bold('Register')} ${step.url}  ${chalk.dim(step.endpoint_id)}`
    if (step.type === 'pushed')
      return `\n${chalk.bold('Push')} ${chalk.dim(`(${step.what})`)}\n${renderPush(step.check, step.report, step.status, columns, currency)}`
    if (step.type === 'refused')
      return `\n${chalk.bold('Push')} ${chalk.dim(`(${step.what})`)}\n${refusalText(step, columns)}`
    if (step.type === 'guest')
      return `\n${chalk.bold('Guest')} ${chalk.dim(`(${step.what})`)}\n${guestText(step, currency)}`
    if (step.type === 'compared')
      return `\n${mark(step.equal)} ${step.what} are ${step.equal ? 'equal' : 'not equal'}`
    const how = step.over_tls ? 'over TLS' : 'in plain text'
    const judgement = step.verified ? 'signature verified' : 'signature invalid'
    const line = `  ${mark(step.verified)} ${step.event_type}  ${how}, ${step.bytes} bytes, ${judgement}`
    const whole = `${line}  ${chalk.dim(step.event_id)}`
    return widthOf(whole) > (columns ?? Infinity) ? line : whole
  },
)

/** Renders a step of a scenario, with expected and actual values where it failed. */
export const renderStep = renderer(
  ({ number, step, passed, duration_ms, mismatches, error, ...report }: StepReport): string => {
    const note = step.note === undefined ? '' : `  ${chalk.dim(printable(step.note))}`
    const head = `  ${mark(passed)} ${String(number).padStart(2)}  ${printable(subjectOf(step))}${note}  ${chalk.dim(`${duration_ms} ms`)}`
    const wrong = mismatches.map(
      ({ path, expected, actual }) =>
        `        ${chalk.bold(path)}\n          expected ${chalk.green(shown(expected))}\n          actual   ${chalk.red(shown(actual))}`,
    )
    const why = error === null ? [] : [`        ${printable(error)}`]
    const skipped = [
      ...(report.skipped_deliveries ? ['Deliveries not checked (pass --endpoint or --forward-to)'] : []),
      ...(report.skipped_receiver ? ["Receiver's view not checked (pass --state-url)"] : []),
    ].map((line) => chalk.dim(`        ${line}`))
    return [head, ...wrong, ...why, ...skipped].join('\n')
  },
)

export const renderScenarioEnd = renderer(
  ({ passed, steps, steps_total, checks }: ScenarioReport): string => {
    const total = steps.reduce((sum, { duration_ms }) => sum + duration_ms, 0)
    const ids = Object.values(checks).map(printable).join(', ')
    const untaken = steps_total - steps.length
    const text = passed
      ? chalk.green(`passed, ${count(steps_total, 'step')}`)
      : chalk.red(`failed at step ${steps.length}${untaken > 0 ? `, ${count(untaken, 'step')} not run` : ''}`)
    return `  ${text}  ${chalk.dim(`in ${(total / 1000).toFixed(1)} s`)}  ${chalk.dim(ids)}`
  },
)

/** Renders the steps of `trigger`, one line each, and the resulting event. */
export const renderTriggered = renderer(
  ({ steps, event, external_check_id }: Triggered, currency: string | undefined): string => {
    const words = steps.map(({ step }) => step.replace('_', ' '))
    const width = Math.max(...words.map((word) => word.length))
    const lines = steps.map(
      (taken, index) =>
        `  ${chalk.dim((words[index] ?? '').padEnd(width))}  ${printable(textOf(taken, currency))}`,
    )
    const head = `${chalk.green('✓')} ${chalk.bold(event.type)}  ${event.id}  ${chalk.dim(printable(external_check_id))}`
    return [...lines, head].join('\n')
  },
)

function refusalText(
  { status, code, message }: Extract<DemoStep, { type: 'refused' }>,
  columns: number | undefined = Infinity,
): string {
  return [chalk.red(`${status} ${code}`), ...wrapTo(columns - 2, message).map((line) => `  ${line}`)].join(
    '\n',
  )
}

function guestText(
  { resource, check }: Extract<DemoStep, { type: 'guest' }>,
  currency: string | undefined,
): string {
  if ('rating' in resource) return renderFeedback(resource)
  return 'tip_cents' in resource
    ? renderPayment(resource, check)
    : renderClaim(resource, check.items, currency)
}

function mark(good: boolean): string {
  return good ? chalk.green('✓') : chalk.red('✗')
}

/** Returns a step's kind and operands: `claim dinner Anna`. */
function subjectOf(step: Step): string {
  const { check, claim, payment, by, guest_name } = step as Partial<Record<string, string>>
  return [step.do, check ?? claim ?? payment ?? by, guest_name].filter((word) => word !== undefined).join(' ')
}

function shown(value: unknown): string {
  return value === undefined
    ? 'nothing'
    : printable(typeof value === 'string' ? value : JSON.stringify(value))
}

function textOf({ resource }: TakenStep, currency: string | undefined): string {
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

/** Renders the result of a search: the number of runs, or the counterexample with its steps and its file. */
export const renderExploration = renderer(
  (
    { runs, seed, interrupted, compared, counterexample }: Exploration,
    file: string | null,
    columns: number,
  ): string => {
    const ended = interrupted ? ', interrupted' : ''
    const fields =
      compared.length === 0
        ? []
        : wrapTo(columns, `Compared at the receiver: ${printable(compared.join(', '))}.`).map((line) =>
            chalk.dim(line),
          )
    if (counterexample === null)
      return [
        `${chalk.green('✓')} ${count(runs, 'run')}, no counterexample (seed ${seed}${ended})`,
        ...fields,
      ].join('\n')
    const { message, scenario } = counterexample
    const steps = scenario.steps.map(
      (step, at) => `  ${String(at + 1).padStart(2)}  ${printable(stepText(step))}`,
    )
    const needsReceiver = counterexample.code === 'receiver_disagrees'
    const written =
      file === null
        ? [`Not written to a file. To try again, pass --seed ${seed} --out FILE.`]
        : [
            `Written to ${printable(file)}. To repeat it, start a service and run:`,
            `  ${suggestion('scenario run', [file])}${needsReceiver ? ' --forward-to URL --secret-file FILE --state-url URL' : ''}`,
          ]
    return [
      `${chalk.red('✗')} counterexample after ${count(runs, 'run')} (seed ${seed}${ended})`,
      ...wrapTo(columns, printable(message)),
      '',
      ...steps,
      '',
      ...written,
      ...fields,
    ].join('\n')
  },
)

/** Returns a step in words: `push table-12 revision 3: 2 × Tea, total 900`. */
function stepText(step: Step): string {
  switch (step.do) {
    case 'push': {
      const { items = [], totals, revision, status } = step.body as PushedBody
      const revised = revision === undefined ? '' : ` revision ${revision}`
      const lines = items.map(({ quantity, name }) => `${quantity} × ${name}`).join(', ')
      const state = status === 'closed' ? 'closed, ' : ''
      return `push ${step.check}${revised}: ${state}${lines === '' ? 'no items' : lines}, total_cents ${totals?.total_cents}${expectationText(step.expect)}`
    }
    case 'claim': {
      const items = step.items.map(({ quantity, external_id }) => `${quantity} × ${external_id}`)
      return `claim ${items.join(', ')} of ${step.check}${step.guest_name === undefined ? '' : ` by ${step.guest_name}`}`
    }
    case 'pay': {
      const what = step.claim_ids?.join(', ') ?? amountText(step.amount_cents) ?? 'the balance'
      return `pay ${what} of ${step.check}${step.card === 'declined' ? ', card declined' : ''}`
    }
    case 'release':
      return `release ${step.claim}`
    case 'refund':
      return `refund ${amountText(step.amount_cents) ?? 'all'} of ${step.payment}`
    case 'advance':
      return `advance the clock by ${step.by}`
    case 'faults':
      return `inject ${step.faults.map(faultText).join(', ') || 'no fault'}`
    case 'resend':
      return `resend event ${step.event} of ${step.check}`
    case 'settle':
      return 'settle: end faults, attempt all deliveries'
    case 'expect':
      return step.receiver === undefined
        ? `expect ${step.check}: ${Object.keys(step.is ?? {}).join(', ')}`
        : `expect that the receiver agrees about ${step.check}`
    default:
      return `${step.do} ${step.check}`
  }
}

function amountText(cents: number | string | undefined): string | undefined {
  return cents === undefined ? undefined : `amount_cents ${cents}`
}

interface PushedBody {
  items?: readonly { quantity: number; name: string }[]
  totals?: { total_cents: number }
  revision?: number | string
  status?: string
}

function expectationText(
  expect: { status?: number | undefined; lost?: true | undefined } | undefined,
): string {
  if (expect?.lost === true) return ', expect a lost response'
  return expect?.status === undefined ? '' : `, expect ${expect.status}`
}

/** `drop (2 times)`. */
function faultText({ on, times, ...fault }: Record<string, unknown>): string {
  const kinds = Object.keys(fault).filter((name) => name !== 'paths' && !name.endsWith('_ms'))
  const where = on === 'api' ? ' into the API' : ''
  return `${kinds.join(', ')}${where}${typeof times === 'number' ? ` (${count(times, 'time')})` : ''}`
}
