import chalk from 'chalk'
import type { Convergence, Ending } from '../../assertions/convergence.ts'
import { printable, renderer } from './text.ts'
import { count, money } from './words.ts'

/** Whether one check converged; if not, the two orders, where they led, and what helps. */
export const renderConvergence = renderer(
  ({ external_check_id, pushes, orders, seed, divergence }: Convergence): string => {
    const what = `${chalk.bold(printable(external_check_id))}  ${count(pushes.length, 'push', 'pushes')}`
    const tried = `${count(orders, 'other order')} with repetitions, seed ${seed}`
    if (divergence === null) return `${chalk.green('✓')} ${what}: one state after ${tried}`
    return [
      `${chalk.red('✗')} ${what}: two orders end in different states (${tried})`,
      ...pushes.map((name, index) => chalk.dim(`    ${index + 1} = ${printable(name)}`)),
      ...divergence.endings.map(renderEnding),
      `  They differ in ${divergence.fields.join(', ')}.`,
      ...advice(divergence.endings),
    ].join('\n')
  },
)

function renderEnding({ order, check }: Ending): string {
  const { status, items, totals, table, revision } = check
  const state = [
    status,
    `table ${printable(table.number)}`,
    count(items.length, 'item'),
    `total ${money(totals.total_cents)}`,
    `revision ${revision ?? 'none'}`,
  ]
  return `  ${order.join(' ')}  →  ${state.join(', ')}`
}

function advice(endings: readonly Ending[]): string[] {
  if (endings.every(({ check }) => check.revision !== null)) return []
  return [
    '  Nothing orders pushes without a revision. Send one with each push that grows with every change of the check (or the field that start --order-by names).',
  ]
}
