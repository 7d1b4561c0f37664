import chalk from 'chalk'
import { durationText } from '../../model/time.ts'
import type { Attempt } from '../../model/delivery.ts'
import { faultsText } from './fault.ts'
import { renderTable } from './table.ts'
import { printable, renderer } from './text.ts'
import { moment, status } from './words.ts'

/** A row for each attempt, and below what befell it, and why it failed. */
export const renderAttempts = renderer((attempts: readonly Attempt[], columns?: number): string => {
  const rows = attempts.map((attempt) => [
    String(attempt.number),
    moment(attempt.started_at),
    status(attempt.outcome),
    attempt.response_status === null ? '' : String(attempt.response_status),
    `${attempt.duration_ms} ms`,
  ])
  const befallen = attempts.flatMap(({ number, faults, held_ms }) =>
    faults === undefined
      ? []
      : [`${chalk.dim(`attempt ${number}:`)}${faultsText(faults, ' ')}${heldFor(held_ms)}`],
  )
  const table = renderTable(
    ['attempt', 'started (UTC)', 'outcome', 'status', 'took'],
    rows,
    'No attempts yet.',
    columns,
  )
  return [table, ...befallen, ...attempts.flatMap(reasons)].join('\n')
})

function heldFor(ms: number | undefined): string {
  return ms === undefined ? '' : `, held back for ${durationText(ms)}`
}

function reasons({ number, error, response_body }: Attempt): string[] {
  const told =
    response_body === null || response_body === '' ? [] : [chalk.dim(`  answered: ${oneLine(response_body)}`)]
  return error === null ? [] : [`${chalk.dim(`attempt ${number}:`)} ${printable(error)}`, ...told]
}

function oneLine(text: string): string {
  const line = text.replace(/\s+/g, ' ').trim()
  return printable(line.length > 200 ? `${line.slice(0, 200)}…` : line)
}
