import chalk from 'chalk'
import type { AttemptMessage } from '../../client.ts'
import { faultsText } from './fault.ts'
import { printable, renderer } from './text.ts'
import { cutTo, padTo, wrapTo } from './width.ts'
import { moment } from './words.ts'

/** On a terminal: as wide as the longest event type, and a name of a check as long as most. */
const WIDTHS = { type: 17, check: 24, answer: 3, took: 9 }
/** So many columns a line needs with the delivery's identifier behind it. */
const WIDE = 108
/** So many it needs without the name of its check, which is cut to what is left, but not below a bound. */
const REST = { columns: 62, leastCheck: 8 }

/** One attempt as `tail` and `listen` show it: on a terminal in columns, as far as they are there, else as it comes. */
export const renderAttempt = renderer(
  (message: AttemptMessage, columns: number | undefined = Infinity): string => {
    const { attempt, id } = message
    const line = [mark(attempt), ...wordsOf(message, columns)].join('  ').replace('  ', ' ')
    const faults = faultsText(attempt.faults)
    if (attempt.outcome === 'succeeded')
      return `${line}${faults}${columns < WIDE ? '' : `  ${chalk.dim(id)}`}`.trimEnd()
    const place = `${faults}  attempt ${attempt.number}  ${columns < WIDE ? '' : chalk.dim(id)}`.trimEnd()
    return [`${line}${place}`, ...reason(message, columns)].join('\n')
  },
)

function mark({ outcome }: AttemptMessage['attempt']): string {
  return outcome === 'succeeded' ? chalk.green('✓') : chalk.red('✗')
}

function wordsOf({ attempt, event_type, external_check_id }: AttemptMessage, columns: number): string[] {
  const time = attempt.started_at.slice(11, 19)
  const answer = attempt.response_status === null ? attempt.outcome : String(attempt.response_status)
  const took = `${attempt.duration_ms} ms`
  const check = external_check_id === null ? [] : [printable(external_check_id)]
  if (columns === Infinity) return [time, event_type, ...check, answer, took]
  const width = Math.min(Math.max(columns - REST.columns, REST.leastCheck), WIDTHS.check)
  return [
    chalk.dim(time),
    padTo(WIDTHS.type, event_type),
    padTo(width, cutTo(width, check[0] ?? '')),
    padTo(WIDTHS.answer, answer),
    took.padStart(WIDTHS.took),
  ]
}

/** Why it failed and what is next, below it; with the identifier that had no room above. */
function reason({ attempt, next_attempt_at, id }: AttemptMessage, columns: number): string[] {
  const next = next_attempt_at === null ? 'no further attempt' : `next attempt ${moment(next_attempt_at)} UTC`
  const why = printable(attempt.error ?? '')
  if (columns === Infinity) return [`    ${why} ${chalk.dim(`(${next})`)}`]
  const after = wrapTo(columns - 4, columns < WIDE ? `${next}, ${id}` : next)
  const lines = [...wrapTo(columns - 4, why), ...after.map((line) => chalk.dim(line))]
  return lines.map((line) => `    ${line}`)
}
