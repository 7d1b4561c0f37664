import chalk from 'chalk'
import type { AttemptMessage } from '../../client.ts'
import type { Attempt, Delivery } from '../../model/delivery.ts'
import { renderTable } from './table.ts'
import { renderFields, printable } from './text.ts'
import { moment, status } from './words.ts'

export function renderDeliveries(deliveries: readonly Delivery[]): string {
  const rows = deliveries.map((delivery) => [
    delivery.id,
    delivery.event_type,
    status(delivery.status),
    String(delivery.attempts.length),
    lastResult(delivery.attempts.at(-1)),
    nextStep(delivery),
  ])
  const headings = ['delivery', 'event', 'status', 'attempts', 'last', 'next (UTC)']
  return renderTable(
    headings,
    rows,
    'No deliveries yet. Register a receiver with: tabwire endpoints create URL --events check.created',
  )
}

export function renderDelivery(delivery: Delivery): string {
  const fields: [string, string][] = [
    ['delivery', delivery.id],
    ['event', `${delivery.event_type}  ${chalk.dim(delivery.event_id)}`],
    ['endpoint', delivery.endpoint_id],
    ['check', delivery.external_check_id ?? 'none'],
    ['status', status(delivery.status) + (delivery.dead_reason === null ? '' : ` (${delivery.dead_reason})`)],
    ['next attempt', delivery.next_attempt_at === null ? 'none' : `${moment(delivery.next_attempt_at)} UTC`],
  ]
  return `${renderFields(fields)}\n\n${renderAttempts(delivery.attempts)}`
}

function renderAttempts(attempts: readonly Attempt[]): string {
  const rows = attempts.map((attempt) => [
    String(attempt.number),
    moment(attempt.started_at),
    status(attempt.outcome),
    attempt.response_status === null ? '' : String(attempt.response_status),
    `${attempt.duration_ms} ms`,
  ])
  const table = renderTable(
    ['attempt', 'started (UTC)', 'outcome', 'status', 'took'],
    rows,
    'No attempts yet.',
  )
  return [table, ...attempts.flatMap(reasons)].join('\n')
}

function reasons({ number, error, response_body }: Attempt): string[] {
  const told =
    response_body === null || response_body === '' ? [] : [chalk.dim(`  answered: ${oneLine(response_body)}`)]
  return error === null ? [] : [`${chalk.dim(`attempt ${number}:`)} ${printable(error)}`, ...told]
}

/** One attempt as `tail` and `demo` show it. */
export function renderAttempt({ attempt, ...delivery }: AttemptMessage): string {
  const mark = attempt.outcome === 'succeeded' ? chalk.green('✓') : chalk.red('✗')
  const about = delivery.external_check_id === null ? '' : `  ${printable(delivery.external_check_id)}`
  const answer = attempt.response_status === null ? attempt.outcome : String(attempt.response_status)
  const line = `${mark} ${attempt.started_at.slice(11, 19)}  ${delivery.event_type}${about}  ${answer}  ${attempt.duration_ms} ms`
  if (attempt.outcome === 'succeeded') return `${line}  ${chalk.dim(delivery.id)}`
  const next =
    delivery.next_attempt_at === null
      ? 'no further attempt'
      : `next attempt ${moment(delivery.next_attempt_at)} UTC`
  return `${line}  attempt ${attempt.number}  ${chalk.dim(delivery.id)}\n    ${printable(attempt.error ?? '')} ${chalk.dim(`(${next})`)}`
}

function lastResult(attempt: Attempt | undefined): string {
  if (attempt === undefined) return ''
  return attempt.response_status === null ? attempt.outcome : String(attempt.response_status)
}

function nextStep({ next_attempt_at, dead_reason }: Delivery): string {
  return next_attempt_at === null ? (dead_reason ?? '') : moment(next_attempt_at)
}

function oneLine(text: string): string {
  const line = text.replace(/\s+/g, ' ').trim()
  return printable(line.length > 200 ? `${line.slice(0, 200)}…` : line)
}
