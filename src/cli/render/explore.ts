import chalk from 'chalk'
import type { Exploration } from '../scenario/explore/explore.ts'
import type { Step } from '../scenario/schema.ts'
import { suggestion } from '../suggestion.ts'
import { wrapTo } from './layout.ts'
import { count, printable, renderer } from './text.ts'

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
        : [chalk.dim(...wrapTo(columns, `Compared at the receiver: ${printable(compared.join(', '))}.`))]
    if (counterexample === null || file === null)
      return [
        `${chalk.green('✓')} ${count(runs, 'run')}, no counterexample (seed ${seed}${ended})`,
        ...fields,
      ].join('\n')
    const { message, scenario } = counterexample
    const steps = scenario.steps.map(
      (step, at) => `  ${String(at + 1).padStart(2)}  ${printable(stepText(step))}`,
    )
    const needsReceiver = counterexample.code === 'receiver_disagrees'
    return [
      `${chalk.red('✗')} counterexample after ${count(runs, 'run')} (seed ${seed}${ended})`,
      ...wrapTo(columns, printable(message)),
      '',
      ...steps,
      '',
      `Written to ${printable(file)}. To repeat it, start a service and run:`,
      `  ${suggestion('scenario run', [file])}${needsReceiver ? ' --forward-to URL --secret-file FILE --state-url URL' : ''}`,
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
  return `${kinds.join(', ')}${where}${typeof times === 'number' ? ` (${times} ${times === 1 ? 'time' : 'times'})` : ''}`
}
