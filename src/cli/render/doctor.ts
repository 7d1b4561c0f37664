import chalk from 'chalk'
import type { Finding } from '../doctor/finding.ts'
import { printable } from './text.ts'
import { wrapTo } from './width.ts'
import { count } from './words.ts'

/** What a doctor's check-up came to, as far as people are told of it. */
interface Told {
  ok: boolean
  checks: readonly Finding[]
  repaired: readonly string[]
  repairable: readonly string[]
}

const marks = { good: chalk.green('✓'), note: chalk.yellow('!'), bad: chalk.red('✗') }

/** What a repair did, then one line for each check with its advice below it, then how it all stands. */
export function renderCheckUp({ ok, checks, repaired, repairable }: Told, columns = Infinity): string {
  const done = repaired.map((text) => `${chalk.bold('Repaired')} ${printable(text)}`)
  const found = checks.flatMap(({ level, message, advice }) => [
    ...indented(`${marks[level]} ${printable(message)}`, columns),
    ...(advice === undefined
      ? []
      : indented(chalk.dim(`→ ${printable(advice)}`), columns - 2).map((line) => `  ${line}`)),
  ])
  return [...done, ...found, '', outcome(ok, checks), ...(repairable.length > 0 ? [HINT] : [])].join('\n')
}

function outcome(ok: boolean, checks: Told['checks']): string {
  const bad = checks.filter(({ level }) => level === 'bad')
  if (ok) return 'A start would succeed.'
  const others = bad.filter(({ check }) => !check.startsWith('receiver'))
  if (others.length > 0) return `A start would not succeed: ${count(others.length, 'problem')}.`
  return 'A start would succeed, but deliveries to this receiver would not arrive.'
}

function indented(text: string, columns: number): string[] {
  return wrapTo(columns - 2, text).map((line, index) => (index === 0 ? line : `  ${line}`))
}

const HINT = 'tabwire doctor --repair keeps what can be kept and moves the rest aside; it deletes nothing.'
