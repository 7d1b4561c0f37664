import chalk from 'chalk'
import { createdAt, durationText, formatTime } from '../../model/text/time.ts'
import { groupsOf } from '../../model/attempt-groups.ts'
import { retryScheduleMs } from '../../model/retry-schedule.ts'
import type { Attempt, Delivery } from '../../model/delivery.ts'
import { bodyStart, faultsText } from './attempt.ts'
import { breakTo, cutTo, renderTable, renderFields, widthOf } from './layout.ts'
import { shortened } from '../../model/text/advice.ts'
import { count } from '../../model/text/count.ts'
import { renderer, status, printable } from './text.ts'

/** URLs of endpoints by id; those of removed endpoints are missing. */
type EndpointUrls = Readonly<Record<string, string>>

/** Widths at which a row of `deliveries list` has all columns, and at which it has the next attempt. */
const WIDE = { all: 150, next: 100, check: 72 }

/** Width of a narrow row without event and check. */
const OTHER_COLUMNS = 38

/**
 * Renders one row per delivery. On a terminal below 150 columns, the id and the endpoint are below their row; below 100, the
 * next attempt is left out, and times have no date; below 72, a check with a long name is below its row, too.
 */
export const renderDeliveries = renderer(
  (
    deliveries: readonly Delivery[],
    urls: EndpointUrls,
    columns: number | undefined = Infinity,
    whenEmpty: string = chalk.dim(NO_DELIVERIES),
  ): string => {
    if (deliveries.length === 0) return whenEmpty
    const endpointOf = ({ endpoint_id, endpoint_url }: Delivery) =>
      urls[endpoint_id] ?? endpoint_url ?? endpoint_id
    const isNarrow = columns < WIDE.next
    const widest = (texts: readonly string[]) => Math.max(...texts.map(widthOf))
    const names = widest(deliveries.map(({ external_check_id }) => external_check_id ?? ''))
    const hasCheck =
      columns >= WIDE.check ||
      names + widest(deliveries.map(({ event_type }) => event_type)) + OTHER_COLUMNS <= columns
    const rows = deliveries.map((delivery) => [
      isNarrow ? formatTime(timeOf(delivery)).slice(-8) : formatTime(timeOf(delivery)),
      delivery.event_type,
      ...(hasCheck ? [delivery.external_check_id ?? ''] : []),
      status(delivery.status),
      String(delivery.attempts.length),
      lastResult(delivery.attempts.at(-1)),
      ...(isNarrow ? [] : [nextStep(delivery)]),
    ])
    const headings = [
      'time (UTC)',
      'event',
      ...(hasCheck ? ['check'] : []),
      'status',
      'tries',
      'last',
      ...(isNarrow ? [] : ['next (UTC)']),
    ]
    if (columns >= WIDE.all)
      return renderTable(
        ['delivery', ...headings, 'endpoint'],
        rows.map((row, index) => [deliveries[index]?.id ?? '', ...row, endpointAt(index)]),
        '',
        columns,
      )
    const below = deliveries.map((delivery) => {
      const check = delivery.external_check_id ?? ''
      const place = cutTo(Math.max(columns - delivery.id.length - 4, 10), printable(endpointOf(delivery)))
      return [
        ...(hasCheck || check === '' ? [] : [`  ${cutTo(columns - 2, printable(check))}`]),
        chalk.dim(`  ${delivery.id}  ${place}`),
      ]
    })
    return renderTable(headings, rows, '', columns, (index) => below[index] ?? [])

    function endpointAt(index: number): string {
      const delivery = deliveries[index]
      return delivery === undefined ? '' : endpointOf(delivery)
    }
  },
)

const NO_DELIVERIES =
  'No deliveries yet. Forward them to your application with: tabwire listen --forward-to http://localhost:3000/webhooks'

/** Renders a delivery; `url` is that of its endpoint, if it still exists. */
export const renderDelivery = renderer(
  (delivery: Delivery, url: string | undefined, columns?: number): string => {
    const fields: [string, string][] = [
      ['delivery', delivery.id],
      ['event', `${delivery.event_type}  ${chalk.dim(delivery.event_id)}`],
      [
        'endpoint',
        url === undefined
          ? `${delivery.endpoint_url ?? delivery.endpoint_id} (removed)`
          : `${url}  ${chalk.dim(delivery.endpoint_id)}`,
      ],
      ['check', delivery.external_check_id ?? 'none'],
      [
        'status',
        status(delivery.status) + (delivery.dead_reason === null ? '' : ` (${delivery.dead_reason})`),
      ],
      ...retrySchedule(delivery),
    ]
    return `${renderFields(fields, columns)}\n\n${renderAttempts(delivery.attempts, columns)}`
  },
)

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

/** Renders one row per attempt, and below them injected faults, trace headers and the reasons of failures. */
const renderAttempts = renderer((attempts: readonly Attempt[], columns?: number): string => {
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
  const traced = attempts.flatMap(({ number, traceparent }) =>
    traceparent === undefined ? [] : [`${chalk.dim(`attempt ${number}:`)} traceparent ${traceparent}`],
  )
  const table = renderTable(
    ['attempt', 'started (UTC)', 'outcome', 'status', 'took'],
    rows,
    'No attempts yet.',
    columns,
  )
  const why = groupsOf(attempts).flatMap((group) => reasons(group, columns))
  return [table, ...injected, ...traced, ...why, ...latestHeaders(attempts, columns)].join('\n')
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

/** Time of the first attempt; of the delivery, before one was made. */
function timeOf({ id, attempts }: Delivery): string {
  return attempts[0]?.started_at ?? createdAt(id)
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

/** Longest header that is printed whole, in characters. */
const LONGEST_HEADER = 400

/** Renders the headers of the latest response. */
function latestHeaders(attempts: readonly Attempt[], columns: number | undefined): string[] {
  const latest = attempts.findLast(({ response_headers }) => response_headers !== undefined)
  if (latest?.response_headers === undefined) return []
  const { number, response_headers: headers, response_headers_cut: isCut } = latest
  const lines = headers.map(({ name, value }) => shortened(printable(`${name}: ${value}`), LONGEST_HEADER))
  const shown = [...(lines.length === 0 ? ['none'] : lines), ...(isCut === true ? [HEADERS_CUT] : [])]
  return [
    chalk.dim(`attempt ${number}: response headers`),
    ...shown.flatMap((line) => breakTo(columns, `  ${line}`)),
  ]
}

/** Says that headers of a response are missing. */
const HEADERS_CUT = '(cut: only the first 100 headers and 4 KiB are stored)'

/** Renders once why attempts with the same result failed, with the response. */
function reasons(group: readonly Attempt[], columns: number | undefined): string[] {
  const [first] = group
  if (typeof first?.error !== 'string') return []
  const { number, error, response_body: body } = first
  const which = group.length === 1 ? `attempt ${number}` : `attempts ${number} to ${group.at(-1)?.number}`
  const response =
    body === null || body === ''
      ? []
      : breakTo(columns, `  response: ${bodyStart(body)}`).map((line) => chalk.dim(line))
  return [`${chalk.dim(`${which}:`)} ${printable(error)}`, ...response]
}
