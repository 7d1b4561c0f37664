import chalk from 'chalk'
import type {
  Account,
  Problem,
  RefusedPushes,
  Report,
  ReportedFinding,
  Sums,
} from '../../model/simulator/report.ts'
import type { Bundle } from '../../model/simulator/bundle.ts'
import { cutTo, renderFields, renderTable, widthOf, wrapped } from './layout.ts'
import { count } from '../../model/text/count.ts'
import { price, printable, renderer } from './text.ts'
import { formatTime } from '../../model/text/time.ts'

/** Renders the findings of an integration: each code once, with its messages and their requests. */
export const renderReport = renderer(
  ({ since, pushes, refused, findings }: Report, columns: number | undefined = Infinity): string => {
    const span = since === null ? '' : ` since ${formatTime(since)}`
    const refusals = refused.length === 0 ? [] : [renderRefused(refused)]
    if (findings.length > 0)
      return [...findings.map((one) => renderFinding(one, columns)), ...refusals].join('\n\n')
    if (pushes === 0) return chalk.dim(`No pushes${span}, so there is nothing to report.`)
    return [
      `${chalk.green('✓')} No problems found in ${count(pushes, 'push', 'pushes')}${span}.`,
      ...refusals,
    ].join('\n')
  },
)

/** Most checks in the table. */
const MOST_CHECKS = 20

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
  const { checks, sums, currency, problems, checks_of_other_locations: others = 0 } = account
  const leftOut = others === 0 ? [] : [`Not in the account: ${count(others, 'check')} of other locations.`]
  if (checks.length === 0)
    return [
      chalk.dim(`The account is empty: no check ${others > 0 ? 'of this location ' : ''}was pushed.`),
      ...leftOut,
    ].join('\n')
  const wrong = checks.filter((check) => check.problems.length > 0)
  const shown = wrong.slice(0, MOST_CHECKS)
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
    wrong.length > MOST_CHECKS
      ? [chalk.dim(`and ${count(wrong.length - MOST_CHECKS, 'more check')} with problems`)]
      : []
  return [renderProblems(problems, columns), [table, ...more, ...leftOut].join('\n')].join('\n\n')
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

/** `4 pushes were refused: 3 with 422 validation_failed, 1 with 400 invalid_json.` */
function renderRefused(refused: readonly RefusedPushes[]): string {
  const total = refused.reduce((sum, one) => sum + one.count, 0)
  const codes = refused.map(({ status, code, count: times }) => `${times} with ${status} ${code}`)
  return `${count(total, 'push was', 'pushes were')} refused: ${codes.join(', ')}.`
}

function renderFinding(
  { code, count: number, requests, includes_earlier }: ReportedFinding,
  columns: number,
): string {
  const times = `${count(number, 'time')}${includes_earlier ? ', some of them earlier' : ''}`
  return [
    `${chalk.yellow(`! ${code}`)}  ${times}`,
    ...[...byMessage(requests)].flatMap(([message, alike]) => [
      wrapped(printable(message), '  ', columns),
      ...alike.flatMap((request) => renderRequestLine(request, columns)),
    ]),
    ...(number > requests.length ? [chalk.dim(`    and ${number - requests.length} earlier`)] : []),
  ].join('\n')
}

/** Groups findings or problems by their message, in the order in which these first appear. */
export function byMessage<T extends { message: string }>(found: readonly T[]): ReadonlyMap<string, T[]> {
  const groups = new Map<string, T[]>()
  for (const one of found) {
    const alike = groups.get(one.message)
    if (alike === undefined) groups.set(one.message, [one])
    else alike.push(one)
  }
  return groups
}

/** Renders a request on one line; on a narrow terminal the path is cut, and the id is below. */
function renderRequestLine(
  { id, method, path, status, started_at }: ReportedFinding['requests'][number],
  columns: number,
): string[] {
  const call = `    ${formatTime(started_at)}  ${method} ${printable(path)}`
  const line = `${call}  ${status}  ${chalk.dim(id)}`
  if (widthOf(line) <= columns) return [line]
  return [`${cutTo(columns - '  200'.length, call)}  ${status}`, `      ${chalk.dim(id)}`]
}

type Recording = Pick<Bundle, 'recorded_at' | 'tabwire' | 'node' | 'platform' | 'command'>

/** Renders when and by what a bundle was written. */
export const renderRecording = renderer(
  ({ recorded_at, tabwire, node, platform, command }: Recording, columns: number): string => {
    const text = `Replay of ${formatTime(recorded_at)} UTC, recorded by Tabwire ${tabwire} on Node.js ${node} (${platform}).`
    const code = command?.exit_code ?? 0
    const ended = code === 0 ? [] : [`The command of \`tabwire exec\` ended with exit code ${code}.`]
    return chalk.dim(wrapped([text, ...ended].join(' '), '', columns))
  },
)

/** Returns the warning for a verdict that differs from the recorded one. */
export const renderDifference = renderer(({ tabwire, node }: Pick<Bundle, 'tabwire' | 'node'>): string => {
  return `The report differs from the recorded one. Tabwire ${tabwire} on Node.js ${node} wrote the bundle; use that version for the recorded report. The exit code follows the report below.`
})

/** Renders the link to the inspector of a replay. */
export const renderReplay = renderer((inspector: string, columns: number): string => {
  const fields = renderFields(
    [
      ['inspector', inspector],
      ['', chalk.dim('works once, within ten minutes')],
    ],
    columns,
  )
  return `${fields}\n\nThe replay sends no deliveries. Press Ctrl-C to stop.`
})
