import chalk from 'chalk'
import type { PushReport } from '../../client.ts'
import type { Check } from '../../model/check.ts'
import { renderCheckChanges, renderItemDiff, type Currencies } from './check.ts'
import { count } from '../../model/text/count.ts'
import { printable, renderer, price, status } from './text.ts'
import { wrapTo } from './layout.ts'
import type { Convergence, Ending } from '../../assertions/convergence.ts'

/** Fields of a check that the summary of a push shows. */
export type SummarizedCheck = Pick<Check, 'external_id' | 'items'> &
  Pick<Partial<Check>, 'table' | 'status' | 'totals'>

/** Renders the result of a push: outcome, item diff, and findings. */
export const renderPush = renderer(
  (
    check: SummarizedCheck,
    report: PushReport | null,
    httpStatus: number,
    columns: number | undefined = Infinity,
    currency?: string,
  ): string => {
    const outcome = report?.outcome ?? (httpStatus === 201 ? 'created' : 'accepted')
    const summary = [
      status(outcome),
      chalk.bold(printable(check.external_id)),
      check.table === undefined ? '' : `table ${printable(check.table.number)}`,
      check.status ?? '',
      count(check.items.length, 'item'),
      check.totals === undefined ? '' : `total ${price(check.totals.total_cents, currency)}`,
    ]
      .filter((part) => part !== '')
      .join('  ')
    const findings = (report?.findings ?? []).map((finding) => findingLine(finding, columns))
    const items = report?.diff ? renderItemDiff(report.diff, check.items, columns, currency) : []
    const changes = renderCheckChanges(report?.changes ?? [], currency)
    return [summary, ...explanation(outcome), ...items, ...changes, ...findings].join('\n')
  },
)

/** Renders whether a check converged; if not, two orders, their states, and advice. */
export const renderConvergence = renderer(
  (
    { external_check_id, pushes, orders, seed, divergence }: Convergence,
    currencies: Currencies = {},
  ): string => {
    const what = `${chalk.bold(printable(external_check_id))}  ${count(pushes.length, 'push', 'pushes')}`
    const tried = `${count(orders, 'other order')} with repetitions, seed ${seed}`
    if (divergence === null) return `${chalk.green('✓')} ${what}: one state after ${tried}`
    return [
      `${chalk.red('✗')} ${what}: two orders end in different states (${tried})`,
      ...pushes.map((name, index) => chalk.dim(`    ${index + 1} = ${printable(name)}`)),
      ...divergence.endings.map((ending) => renderEnding(ending, currencies)),
      `  They differ in ${divergence.fields.join(', ')}.`,
      ...advice(divergence.endings),
    ].join('\n')
  },
)

/** Renders a finding, indented. */
export function findingLine({ code, message }: { code: string; message: string }, columns: number): string {
  return `  ${wrapTo(columns - 4, `${chalk.yellow(`! ${code}`)} ${message}`).join('\n    ')}`
}

function explanation(outcome: string): string[] {
  if (outcome === 'unchanged')
    return [chalk.dim('  the check already has this state: nothing stored, no event')]
  if (outcome === 'stale') return [chalk.dim('  the service has a newer state: nothing stored, no event')]
  return []
}

function renderEnding({ order, check }: Ending, currencies: Currencies): string {
  const { status, items, totals, table, revision, location_id } = check
  const state = [
    status,
    `table ${printable(table.number)}`,
    count(items.length, 'item'),
    `total ${price(totals.total_cents, currencies[location_id])}`,
    `revision ${revision ?? 'none'}`,
  ]
  return `  ${order.join(' ')}  →  ${state.join(', ')}`
}

function advice(endings: readonly Ending[]): string[] {
  if (endings.every(({ check }) => check.revision !== null)) return []
  return [
    '  Pushes without a revision have no order. Send a revision that grows with every change of the check (or the field of `start --order-by`).',
  ]
}
