import chalk from 'chalk'
import {
  grouped,
  type CaseResult,
  type ConformanceReport,
  type Verdict,
} from '../../conformance/report/result.ts'
import { renderer } from './text.ts'
import { count } from './words.ts'
import { wrapped } from './wrap.ts'

/**
 * The report for people: a line per case, and below those that failed what was seen and why it matters, told
 * once where it is the same for the next ones.
 */
export const renderConformance = renderer(
  (report: ConformanceReport, columns: number | undefined = Infinity): string => {
    const groups = [...grouped(report.cases)].map(([group, cases]) =>
      [chalk.bold(group), ...runs(cases).map((run) => renderRun(run, columns))].join('\n'),
    )
    const head = `${report.suite} ${report.target}`
    return [head, ...groups, renderTotals(report)].join('\n\n')
  },
)

const marks: Record<Verdict, string> = {
  passed: chalk.green('✓'),
  failed: chalk.red('✗'),
  advised: chalk.yellow('!'),
  not_checked: chalk.dim('-'),
  observed: chalk.yellow('·'),
}

const INDENT = ' '.repeat(6)

/** Cases one after the other of which the same is to be told, so that it is told once; each other alone. */
function runs(cases: readonly CaseResult[]): CaseResult[][] {
  const all: CaseResult[][] = []
  for (const one of cases) {
    const run = all.at(-1)
    if (run?.[0] !== undefined && isAlike(run[0], one)) run.push(one)
    else all.push([one])
  }
  return all
}

function isAlike(one: CaseResult, other: CaseResult): boolean {
  if (one.verdict !== other.verdict || one.detail !== other.detail) return false
  return one.verdict === 'not_checked' || (isTold(one) && one.reason === other.reason)
}

/** Whether the reader is told why the case matters. */
function isTold({ verdict }: CaseResult): boolean {
  return verdict === 'failed' || verdict === 'advised'
}

/** Cases that were not checked share a line; others have one each. Below is what was seen, and why a failure matters. */
function renderRun(run: readonly CaseResult[], columns: number): string {
  const [first, ...rest] = run as [CaseResult, ...CaseResult[]]
  const { verdict, detail, reason } = first
  const isObservation = verdict === 'observed'
  const lines =
    verdict === 'not_checked' && rest.length > 0
      ? [`${count(run.length, 'case')}, ${first.id} to ${rest.at(-1)?.id}`]
      : run.map(({ id, title }) => `${id}  ${chalk.dim(title)}${isObservation ? `: ${detail}` : ''}`)
  const paragraph = (text: string) => wrapped(text, INDENT, columns)
  const seen = detail === null || isObservation ? [] : [paragraph(detail)]
  const why = isTold(first) ? [chalk.yellow(paragraph(reason))] : []
  const marked = lines.map((line) => `  ${marks[verdict]} ${paragraph(line).slice(INDENT.length)}`)
  return [...marked, ...seen, ...why].join('\n')
}

function renderTotals({ totals, duration_ms, interrupted }: ConformanceReport): string {
  const counts = (Object.keys(marks) as Verdict[]).filter(
    (verdict) => totals[verdict] > 0 || verdict === 'passed' || verdict === 'failed',
  )
  const words = counts.map((verdict) => `${totals[verdict]} ${verdict.replace('_', ' ')}`).join(', ')
  const told = totals.failed > 0 ? chalk.red(words) : words
  const partial = interrupted ? `\n${chalk.yellow('Interrupted: this report is partial.')}` : ''
  return `${told}  ${chalk.dim(`in ${(duration_ms / 1000).toFixed(1)} s`)}${partial}`
}
