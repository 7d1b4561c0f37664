import chalk from 'chalk'
import { printable } from './text.ts'

/** What a doctor's check-up came to, as far as people are told of it. */
interface Told {
  ok: boolean
  checks: readonly { level: 'good' | 'note' | 'bad'; message: string }[]
  repaired: readonly string[]
  repairable: readonly string[]
}

const marks = { good: chalk.green('✓'), note: chalk.yellow('!'), bad: chalk.red('✗') }

/** What a repair did, then one line for each check, then what to do. */
export function renderCheckUp({ ok, checks, repaired, repairable }: Told): string {
  const done = repaired.map((text) => `${chalk.bold('Repaired')} ${printable(text)}`)
  const found = checks.map(({ level, message }) => `${marks[level]} ${printable(message)}`)
  const outcome = ok ? 'A start would succeed.' : 'A start would not succeed.'
  return [...done, ...found, '', repairable.length > 0 ? `${outcome} ${HINT}` : outcome].join('\n')
}

const HINT = 'tabwire doctor --repair keeps what can be kept and moves the rest aside; it deletes nothing.'
