import chalk from 'chalk'
import type { RefusedPushes, Report, ReportedFinding } from '../../model/simulator/report.ts'
import { printable, renderer } from './text.ts'
import { count, moment } from './words.ts'
import { wrapped } from './wrap.ts'

/** What an integration did wrong: each finding once, with its last words and the requests that show it. */
export const renderReport = renderer(
  ({ since, pushes, refused, findings }: Report, columns: number | undefined = Infinity): string => {
    const span = since === null ? '' : ` since ${moment(since)}`
    const account = refused.length === 0 ? [] : [renderRefused(refused)]
    if (findings.length > 0)
      return [...findings.map((one) => renderFinding(one, columns)), ...account].join('\n\n')
    if (pushes === 0) return chalk.dim(`No push has come${span}, so there is nothing to report.`)
    return [
      `${chalk.green('✓')} Nothing is wrong with ${count(pushes, 'push', 'pushes')}${span}.`,
      ...account,
    ].join('\n')
  },
)

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
  const times = `${count(number, 'time')}${includes_earlier ? ', some of them before' : ''}`
  const messages = [...new Set(requests.map(({ message }) => message))]
  return [
    `${chalk.yellow(`! ${code}`)}  ${times}`,
    wrapped(printable(messages.at(-1) ?? ''), '  ', columns),
    ...requests.map(
      ({ id, method, path, status, started_at }) =>
        `    ${moment(started_at)}  ${method} ${printable(path)}  ${status}  ${chalk.dim(id)}`,
    ),
    ...(number > requests.length ? [chalk.dim(`    and ${number - requests.length} before`)] : []),
  ].join('\n')
}
