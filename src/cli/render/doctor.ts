import chalk from 'chalk'
import type { DoctorFinding } from '../doctor/finding.ts'
import { count } from '../../model/text/count.ts'
import { printable, renderer } from './text.ts'
import { wrapTo } from './layout.ts'

/** Result of `doctor`. */
interface DoctorResult {
  ok: boolean
  checks: readonly DoctorFinding[]
  repaired: readonly string[]
  repairable: readonly string[]
  /** URL of the running service, if any. */
  running: string | undefined
}

/** Returns the mark of a check. Coloured at each call: NO_COLOR takes effect after this file is loaded. */
function markOf(level: DoctorFinding['level']): string {
  return { good: chalk.green('✓'), note: chalk.yellow('!'), bad: chalk.red('✗') }[level]
}

/** Renders what a repair did, one line per check with its advice below, and the summary. */
export const renderCheckUp = renderer(
  (checkUp: DoctorResult, columns: number | undefined = Infinity): string => {
    const { checks, repaired, repairable } = checkUp
    const done = repaired.map((text) => `${chalk.bold('Repaired')} ${printable(text)}`)
    const found = checks.flatMap(({ level, message, advice }) => [
      ...indented(`${markOf(level)} ${printable(message)}`, columns),
      ...(advice === undefined
        ? []
        : indented(chalk.dim(`→ ${printable(advice)}`), columns - 2).map((line) => `  ${line}`)),
    ])
    return [...done, ...found, '', outcome(checkUp), ...(repairable.length > 0 ? [HINT] : [])].join('\n')
  },
)

function outcome({ checks, running }: DoctorResult): string {
  const bad = checks.filter(({ level }) => level === 'bad')
  const problems = bad.filter(({ check }) => !check.startsWith('receiver')).length
  const ready = running === undefined ? 'Ready to start' : `Tabwire runs here at ${running}`
  if (bad.length === 0) return `${ready}.`
  if (problems === 0) return `${ready}, but deliveries would not reach this receiver.`
  if (running === undefined) return `Not ready to start: ${count(problems, 'problem')}.`
  return `${ready}, but the next start would fail: ${count(problems, 'problem')}.`
}

function indented(text: string, columns: number): string[] {
  return wrapTo(columns - 2, text).map((line, index) => (index === 0 ? line : `  ${line}`))
}

const HINT =
  'To repair the data directory, run `tabwire doctor --repair`. It moves damaged files aside and deletes nothing.'
