import chalk from 'chalk'
import {
  type CaseResult,
  type ConformanceReport,
  casesByGroup,
  isUnchecked,
  UNCHECKED,
  type Verdict,
} from '../../conformance/report.ts'
import { groupAlike } from '../../model/attempt-groups.ts'
import { renderFields, wrapped } from './layout.ts'
import { count } from '../../model/text/count.ts'
import { printable, renderer } from './text.ts'
import type { countOutcomes, VerifyOutcome } from '../verify.ts'

/**
 * Renders a conformance report: one line per case, and below failed ones the details and the reason, printed once
 * where they are equal for consecutive cases. `about` are fields about what is examined.
 */
export const renderConformance = renderer(
  (
    report: ConformanceReport,
    columns: number | undefined = Infinity,
    about: readonly (readonly [string, string])[] = [],
  ): string => {
    const groups = [...casesByGroup(report.cases)].map(([group, cases]) =>
      [chalk.bold(group), ...groupAlike(cases, isAlike).map((run) => renderRun(run, columns))].join('\n'),
    )
    const instance = about.length === 0 ? [] : [indented(renderFields(about, columns - 2))]
    const head = [`${report.suite} ${report.target}`, ...instance, ...renderCause(report)].join('\n')
    return [head, ...groups, renderTotals(report)].join('\n\n')
  },
)

/**
 * Renders the failed case that explains the others on one line: a failed control, because of which no other case is
 * checked, or the first of cases that fail for the same reason.
 */
function renderCause({ cases }: ConformanceReport): string[] {
  const failed = cases.filter(({ verdict }) => verdict === 'failed')
  const [first] = failed
  if (first === undefined) return []
  const cause = failed.find(({ group }) => group === 'control')
  const isOne = cause !== undefined || failed.every(({ reason }) => reason === first.reason)
  if (!isOne) return []
  const { group, id, detail, reason } = cause ?? first
  // The detail of a control is the cause. That of another case is what was seen.
  const words = cause === undefined || detail === null ? [detail ?? [], reason].flat() : [detail]
  return [`${chalk.red('✗')} Cause: ${group}/${id}: ${words.join(' ').replace(/\s+/g, ' ')}`]
}

function indented(text: string): string {
  return text.replace(/^/gm, '  ')
}

/** The mark of each verdict, in the order of the totals. Functions, because NO_COLOR takes effect after this file is loaded. */
const marks: Record<Verdict, () => string> = {
  passed: () => chalk.green('✓'),
  failed: () => chalk.red('✗'),
  advised: () => chalk.yellow('!'),
  error: () => chalk.red('✗'),
  not_checked: () => chalk.dim('-'),
  observed: () => chalk.yellow('·'),
}

const INDENT = ' '.repeat(6)

/** Returns true for cases that are printed as one. */
function isAlike(one: CaseResult, other: CaseResult): boolean {
  if (one.verdict !== other.verdict || one.detail !== other.detail) return false
  return one.verdict === 'not_checked' || (hasReason(one) && one.reason === other.reason)
}

/** Returns true for verdicts whose reason is printed. */
function hasReason({ verdict }: CaseResult): boolean {
  return verdict === 'failed' || verdict === 'advised'
}

/**
 * Renders consecutive cases: those not checked share one line, others have one each; below are details and reason.
 */
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
  const why = hasReason(first) ? [chalk.yellow(paragraph(reason))] : []
  const marked = lines.map((line) => `  ${marks[verdict]()} ${paragraph(line).slice(INDENT.length)}`)
  return [...marked, ...seen, ...why].join('\n')
}

function renderTotals({ totals, duration_ms, interrupted, cases }: ConformanceReport): string {
  const counts = (Object.keys(marks) as Verdict[]).filter(
    (verdict) => totals[verdict] > 0 || verdict === 'passed' || verdict === 'failed',
  )
  const words = counts
    .map((verdict) =>
      verdict === 'error' ? count(totals.error, 'error') : `${totals[verdict]} ${verdict.replace('_', ' ')}`,
    )
    .join(', ')
  const counted = totals.failed + totals.error > 0 ? chalk.red(words) : words
  const why = interrupted ? 'Interrupted: this report is partial.' : isUnchecked(cases) ? UNCHECKED : ''
  const partial = why === '' ? '' : `\n${chalk.yellow(why)}`
  return `${counted}  ${chalk.dim(`in ${(duration_ms / 1000).toFixed(1)} s`)}${partial}`
}

/** Renders the result of a verification, with the known mistake and its advice. */
export const renderVerification = renderer(({ result, diagnosis }: VerifyOutcome, now: Date): string => {
  if (result.ok)
    return `${chalk.green('✓')} The signature is valid. It was made ${ago(now, result.timestamp)}.`
  const named = diagnosis === undefined ? [] : [`  ${chalk.yellow(diagnosis.mistake)}: ${diagnosis.advice}`]
  return [`${chalk.red('✗')} ${result.code}: ${printable(result.message)}`, ...named].join('\n')
})

/** Renders the totals of `verify --many`. */
export const renderCounts = renderer(
  ({ total, right, wrong, mistakes }: ReturnType<typeof countOutcomes>): string => {
    const named = Object.entries(mistakes).map(([mistake, times]) => `  ${chalk.yellow(mistake)}  ${times}`)
    return [`${total} verified: ${right} valid, ${wrong} invalid`, ...named].join('\n')
  },
)

function ago(now: Date, timestamp: number): string {
  const seconds = Math.floor(now.getTime() / 1000) - timestamp
  return seconds >= 0 ? `${seconds} s ago` : `${-seconds} s in the future`
}
