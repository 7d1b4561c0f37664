import chalk from 'chalk'
import { retryScheduleMs } from '../../model/retry-schedule.ts'
import type { Attempt, Delivery } from '../../model/delivery.ts'
import { faultsText } from './fault.ts'
import { renderTable } from './layout.ts'
import { renderFields, renderer, formatTime, status, printable, count } from './text.ts'
import { durationText } from '../../model/text/time.ts'

export const renderDeliveries = renderer((deliveries: readonly Delivery[], columns?: number): string => {
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
    'No deliveries yet. Forward them to your application with: tabwire listen --forward-to http://localhost:3000/webhooks',
    columns,
  )
})

export const renderDelivery = renderer((delivery: Delivery, columns?: number): string => {
  const fields: [string, string][] = [
    ['delivery', delivery.id],
    ['event', `${delivery.event_type}  ${chalk.dim(delivery.event_id)}`],
    ['endpoint', delivery.endpoint_id],
    ['check', delivery.external_check_id ?? 'none'],
    ['status', status(delivery.status) + (delivery.dead_reason === null ? '' : ` (${delivery.dead_reason})`)],
    ...retrySchedule(delivery),
  ]
  return `${renderFields(fields)}\n\n${renderAttempts(delivery.attempts, columns)}`
})

/** Renders the result of `deliveries resend ID`. */
export const renderResent = renderer(({ id, event_type, endpoint_id }: Delivery): string => {
  return `${chalk.green('✓')} Resent ${event_type} to ${endpoint_id} as ${id}`
})

/** Renders the result of `deliveries resend --dead`. */
export const renderResentAll = renderer(({ data, refused }: Resent): string => {
  const reasons = refused.map(({ id, message }) => `${chalk.red('✗')} ${id}: ${printable(message)}`)
  const left = refused.length === 0 ? '' : `, ${refused.length} refused`
  const total = `${count(data.length, 'delivery', 'deliveries')} resent${left}.`
  return [...data.map(renderResent), ...reasons, total].join('\n')
})

interface Resent {
  data: readonly Delivery[]
  refused: readonly { id: string; message: string }[]
}

/** Renders the deliveries that `deliveries wait` has matched. */
export const renderMet = renderer((met: readonly Delivery[]): string => {
  const lines = met.map(
    ({ id, event_type, external_check_id, status: word }) =>
      `${chalk.green('✓')} ${event_type}  ${printable(external_check_id ?? '')}  ${status(word)}  ${chalk.dim(id)}`,
  )
  return met.length === 0 ? `${chalk.green('✓')} No delivery arrived.` : lines.join('\n')
})

/** Renders one row per attempt, and below them the injected faults and the reasons of failures. */
export const renderAttempts = renderer((attempts: readonly Attempt[], columns?: number): string => {
  const rows = attempts.map((attempt) => [
    String(attempt.number),
    formatTime(attempt.started_at),
    status(attempt.outcome),
    attempt.response_status === null ? '' : String(attempt.response_status),
    `${attempt.duration_ms} ms`,
  ])
  const injected = attempts.flatMap(({ number, faults, held_ms }) =>
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
  return [table, ...injected, ...attempts.flatMap(reasons)].join('\n')
})

/** Waits of the retry schedule (specification section 8): `30m`, `2h`. */
export const retryWaits = retryScheduleMs.map((wait) => {
  const minutes = wait / 60_000
  return minutes < 60 ? `${minutes}m` : `${minutes / 60}h`
})

/** Returns the next step of the retry schedule, and the steps after it. */
function retrySchedule({
  event_type,
  status,
  attempts,
  next_attempt_at,
  held,
}: Delivery): [string, string][] {
  const made = attempts.length
  const waits = event_type === 'ping' ? [] : retryWaits
  if (next_attempt_at === null) {
    const unused = status === 'dead' && made <= waits.length ? `; ${waits.length + 1 - made} not made` : ''
    return [['next attempt', `none, after ${made} of ${waits.length + 1} attempts${unused}`]]
  }
  const wait = made === 0 ? '' : `, ${waits[made - 1]} after the last`
  const left = waits.slice(made)
  return [
    ['next attempt', `${formatTime(next_attempt_at)} UTC, attempt ${made + 1} of ${waits.length + 1}${wait}`],
    ...heldBack(held),
    ['if it fails', left.length === 0 ? 'dead' : `retry after ${left.join(', ')}; then dead`],
  ]
}

function heldBack(held: Delivery['held']): [string, string][] {
  if (held === undefined) return []
  const until = held.faults.includes('reorder')
    ? ', until a later delivery overtakes it or until the next attempt'
    : ''
  return [['held', `since ${formatTime(held.since)} UTC${until}${faultsText(held.faults)}`]]
}

function lastResult(attempt: Attempt | undefined): string {
  if (attempt === undefined) return ''
  return attempt.response_status === null ? attempt.outcome : String(attempt.response_status)
}

function nextStep({ next_attempt_at, dead_reason }: Delivery): string {
  return next_attempt_at === null ? (dead_reason ?? '') : formatTime(next_attempt_at)
}

function heldFor(ms: number | undefined): string {
  return ms === undefined ? '' : `, held for ${durationText(ms)}`
}

function reasons({ number, error, response_body }: Attempt): string[] {
  const told =
    response_body === null || response_body === '' ? [] : [chalk.dim(`  response: ${oneLine(response_body)}`)]
  return error === null ? [] : [`${chalk.dim(`attempt ${number}:`)} ${printable(error)}`, ...told]
}

function oneLine(text: string): string {
  const line = text.replace(/\s+/g, ' ').trim()
  return printable(line.length > 200 ? `${line.slice(0, 200)}…` : line)
}
