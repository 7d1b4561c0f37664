import chalk from 'chalk'
import type { Account, Problem, Sums } from '../../model/simulator/account.ts'
import type { Report } from '../../model/simulator/report.ts'
import { renderReport } from './results.ts'
import { renderTable, wrapped } from './layout.ts'
import { count, price, printable, renderer } from './text.ts'

/** Most checks in the table. */
const MOST = 20

const amounts: readonly (readonly [heading: string, name: keyof Sums])[] = [
  ['pushed', 'pushed_cents'],
  ['claimed', 'claimed_cents'],
  ['paid', 'paid_cents'],
  ['tips', 'tipped_cents'],
  ['refunded', 'refunded_cents'],
  ['owed', 'owed_cents'],
  ['elsewhere', 'paid_elsewhere_cents'],
  ['overpaid', 'overpaid_cents'],
]

/** Renders an account: the first problem with its requests and deliveries, the checks with a problem, and the sums. */
export const renderAccount = renderer((account: Account, columns: number | undefined = Infinity): string => {
  const { checks, sums, currency, problems } = account
  if (checks.length === 0) return chalk.dim('The account is empty: no check was pushed.')
  const wrong = checks.filter((check) => check.problems.length > 0)
  const shown = wrong.slice(0, MOST)
  const rows = shown.map((check) => [
    check.external_check_id,
    ...amounts.map(([, name]) => (check[name] === 0 ? '' : price(check[name], currency))),
    check.problems.join(', '),
  ])
  const all = [
    `${wrong.length > 0 ? 'all ' : ''}${count(checks.length, 'check')}`,
    ...amounts.map(([, name]) => price(sums[name], currency)),
    '',
  ]
  const headings = [
    'account',
    ...amounts.map(([heading]) => heading),
    ...(wrong.length > 0 ? ['problems'] : []),
  ]
  const table = renderTable(
    headings,
    [...rows, all].map((row) => row.slice(0, headings.length)),
    '',
    columns,
  )
  const more =
    wrong.length > MOST ? [chalk.dim(`and ${count(wrong.length - MOST, 'more check')} with problems`)] : []
  return [renderProblems(problems, columns), [table, ...more].join('\n')].join('\n\n')
})

/** Renders a report, and the account after it where it was asked for. */
export const renderReported = renderer((report: Report & { account?: Account }, columns: number): string => {
  const account = report.account === undefined ? [] : [renderAccount(report.account, columns)]
  return [renderReport(report, columns), ...account].join('\n\n')
})

function renderProblems([first, ...others]: readonly Problem[], columns: number): string {
  if (first === undefined) return `${chalk.green('✓')} The account adds up.`
  const { code, external_check_id, message } = first
  const ids = [...first.requests, ...first.events, ...first.deliveries]
  const counted = new Map<string, number>()
  for (const other of others) counted.set(other.code, (counted.get(other.code) ?? 0) + 1)
  const rest = Array.from(counted, ([other, times]) => `${times} ${other}`).join(', ')
  return [
    `${chalk.red(`✗ ${code}`)}  ${printable(external_check_id)}`,
    wrapped(printable(message), '  ', columns),
    ...ids.map((id) => `    ${chalk.dim(id)}`),
    ...(others.length === 0
      ? []
      : [wrapped(`and ${count(others.length, 'later problem')}: ${rest}`, '  ', columns)]),
  ].join('\n')
}
