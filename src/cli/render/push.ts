import chalk from 'chalk'
import type { PushReport } from '../../client.ts'
import type { Check } from '../../model/check.ts'
import { renderCheckChanges, renderItemDiff } from './item-diff.ts'
import { printable, renderer } from './text.ts'
import { wrapTo } from './width.ts'
import { count, money, status } from './words.ts'

/** What a push came to: the outcome, the item diff as a diff shows it, and what the linter has to say. */
export const renderPush = renderer(
  (
    check: Check,
    report: PushReport | null,
    httpStatus: number,
    columns: number | undefined = Infinity,
  ): string => {
    const outcome = report?.outcome ?? (httpStatus === 201 ? 'created' : 'accepted')
    const summary = [
      status(outcome),
      chalk.bold(printable(check.external_id)),
      `table ${printable(check.table.number)}`,
      check.status,
      count(check.items.length, 'item'),
      `total ${money(check.totals.total_cents)}`,
    ].join('  ')
    const findings = (report?.findings ?? []).map(({ code, message }) =>
      wrapTo(columns - 4, `  ${chalk.yellow(`! ${code}`)} ${message}`).join('\n    '),
    )
    const items = report?.diff ? renderItemDiff(report.diff, check.items, columns) : []
    const changes = renderCheckChanges(report?.changes ?? [])
    return [summary, ...explanation(outcome), ...items, ...changes, ...findings].join('\n')
  },
)

function explanation(outcome: string): string[] {
  if (outcome === 'unchanged')
    return [chalk.dim('  the check is in this state already: nothing was written, no event')]
  if (outcome === 'stale')
    return [chalk.dim('  the service knows a newer state: nothing was written, no event')]
  return []
}
