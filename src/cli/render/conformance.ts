import chalk from 'chalk'
import {
  grouped,
  type CaseResult,
  type ConformanceReport,
  type Verdict,
} from '../../conformance/report/result.ts'
import { printable } from './text.ts'

/** The report for people: a line per case, and below those that failed what was seen and why it matters. */
export function renderConformance(report: ConformanceReport): string {
  const groups = [...grouped(report.cases)].map(([group, cases]) =>
    [chalk.bold(group), ...cases.map(renderCase)].join('\n'),
  )
  const head = `${report.suite} ${report.target}`
  return printable([head, ...groups, renderTotals(report)].join('\n\n'))
}

const marks: Record<Verdict, string> = {
  passed: chalk.green('✓'),
  failed: chalk.red('✗'),
  skipped: chalk.dim('-'),
  observed: chalk.yellow('·'),
}

function renderCase({ id, title, reason, verdict, detail }: CaseResult): string {
  const line = `  ${marks[verdict]} ${id}  ${chalk.dim(title)}`
  const seen = detail === null ? [] : [`      ${detail}`]
  const why = verdict === 'failed' ? [`      ${chalk.yellow(reason)}`] : []
  return [line, ...seen, ...why].join('\n')
}

function renderTotals({ totals, duration_ms }: ConformanceReport): string {
  const counts = (Object.keys(marks) as Verdict[]).filter(
    (verdict) => totals[verdict] > 0 || verdict === 'passed' || verdict === 'failed',
  )
  const words = counts.map((verdict) => `${totals[verdict]} ${verdict}`).join(', ')
  const told = totals.failed > 0 ? chalk.red(words) : words
  return `${told}  ${chalk.dim(`in ${(duration_ms / 1000).toFixed(1)} s`)}`
}
