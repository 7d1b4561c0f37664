import chalk from 'chalk'
import type { PushReport } from '../../client.ts'
import type { Check } from '../../model/check.ts'
import type { FieldChange, ItemDiff } from '../../model/item-diff.ts'
import { printable } from './text.ts'
import { count, money, status } from './words.ts'

/** What a push came to: the outcome, the item diff as a diff shows it, and what the linter has to say. */
export function renderPush(check: Check, report: PushReport | null, httpStatus: number): string {
  const outcome = report?.outcome ?? (httpStatus === 201 ? 'created' : 'accepted')
  const summary = [
    status(outcome),
    chalk.bold(printable(check.external_id)),
    `table ${printable(check.table.number)}`,
    check.status,
    count(check.items.length, 'item'),
    `total ${money(check.totals.total_cents)}`,
  ].join('  ')
  const findings = (report?.findings ?? []).map(
    ({ code, message }) => `  ${chalk.yellow(`! ${code}`)} ${message}`,
  )
  return [summary, ...explanation(outcome), ...diffLines(report?.diff ?? null), ...findings].join('\n')
}

function explanation(outcome: string): string[] {
  if (outcome === 'unchanged')
    return [chalk.dim('  the check is in this state already: nothing was written, no event')]
  if (outcome === 'stale')
    return [chalk.dim('  the service knows a newer state: nothing was written, no event')]
  return []
}

function diffLines(diff: ItemDiff | null): string[] {
  if (diff === null) return []
  const line = (item: ItemDiff['added'][number]) =>
    `${item.quantity} × ${printable(item.name)}  ${money(item.price_cents)}  ${chalk.dim(printable(item.external_id))}`
  return [
    ...diff.removed.map((item) => chalk.red(`  - ${line(item)}`)),
    ...diff.added.map((item) => chalk.green(`  + ${line(item)}`)),
    ...diff.changed.map(({ external_id, name, changes }) =>
      chalk.yellow(
        `  ~ ${printable(name)}  ${changes.map(changeText).join(', ')}  ${chalk.dim(printable(external_id))}`,
      ),
    ),
    ...(diff.unchanged > 0 ? [chalk.dim(`    ${count(diff.unchanged, 'item')} unchanged`)] : []),
  ]
}

function changeText({ field, from, to }: FieldChange): string {
  const shown = (value: string | number | null) => {
    if (value === null) return 'none'
    return field === 'price_cents' ? money(Number(value)) : printable(String(value))
  }
  return `${field === 'price_cents' ? 'price' : field} ${shown(from)} → ${shown(to)}`
}
