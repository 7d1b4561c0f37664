import chalk from 'chalk'
import type { AttemptMessage } from '../../client.ts'
import { textOfPage } from '../../model/text/advice.ts'
import { count } from '../../model/text/count.ts'
import { printable, renderer } from './text.ts'
import { formatTime } from '../../model/text/time.ts'
import { breakTo, cutInside, cutTo, padTo, widthOf, wrapTo, renderFields } from './layout.ts'
import { eventTypes } from '../../model/event.ts'
import { bareHost, isLoopbackName } from '../../model/url.ts'
import type { RegisteredRoute } from '../listen/endpoints.ts'

/** Column widths on a terminal: the longest event type, and a usual name of a check. */
const WIDTHS = { type: 17, check: 24, answer: 3, took: 9 }

/** Columns of a line with the delivery's identifier at its end. */
const WIDE = 108

/** Columns of a line without the check's name, and the least for the name, which is cut to the rest. */
const REST = { columns: 62, leastCheck: 8 }

/**
 * Renders one attempt for `tail` and `listen`: in columns on a terminal, else uncut; `endpoint` is the URL of the
 * receiver.
 */
export const renderAttempt = renderer(
  (message: AttemptMessage, columns: number | undefined = Infinity, endpoint?: string): string => {
    const { attempt, id } = message
    const succeeded = attempt.outcome === 'succeeded'
    const line = [mark(attempt), ...wordsOf(message, columns)].join('  ').replace('  ', ' ')
    const number = succeeded ? '' : `  attempt ${attempt.number}`
    const name = columns < WIDE ? '' : `  ${chalk.dim(id)}`
    const whole = `${line}${faultsText(attempt.faults)}${number}${name}`.trimEnd()
    const place = endpoint === undefined ? '' : chalk.dim(`→ ${shortUrl(endpoint)}`)
    // The receiver is shown beside the attempt, or below it when the line is full.
    const hasRoom = widthOf(whole) + 2 + widthOf(place) <= columns
    const first = hasRoom && place !== '' ? `${whole}  ${place}` : whole
    const second = hasRoom || place === '' ? [] : [`    ${cutTo(columns - 4, place)}`]
    return [first, ...second, ...(succeeded ? [] : reason(message, columns))].join('\n')
  },
)

/** Renders the response of a failed attempt on one line; nothing when it has no body. */
export const renderFailure = renderer(({ attempt }: AttemptMessage, columns?: number): string => {
  const { outcome, response_body } = attempt
  if (outcome === 'succeeded' || response_body === null || response_body === '') return ''
  return `\n    ${chalk.dim(cutTo((columns ?? Infinity) - 4, `response: ${bodyStart(response_body)}`))}`
})

/** Returns the faults injected into an attempt or a request, with `before` in front. */
export function faultsText(faults: readonly string[] | undefined, before = '  '): string {
  return faults === undefined ? '' : `${before}${chalk.yellow(`faults: ${faults.join(', ')}`)}`
}

/** Returns a body in one line, at most 200 characters of it; of a page, its text. */
export function bodyStart(text: string): string {
  return printable(bounded(readable(text).replace(/\s+/g, ' ').trim(), 200))
}

/** Returns the text of a page instead of its markup; of a page without text, and of another body, all of it. */
function readable(body: string): string {
  const text = textOfPage(body) ?? ''
  return text === '' ? body : text
}

/** Returns host and path; without the host on this machine, where the port says enough. */
export function shortUrl(text: string): string {
  if (!URL.canParse(text)) return text
  const { hostname, port, host, pathname } = new URL(text)
  const isHere = port !== '' && isLoopbackName(bareHost({ hostname }))
  return `${isHere ? `:${port}` : host}${pathname === '/' ? '' : pathname}`
}

/** Renders one attempt; with several targets also its target, and the receiver's answer when it failed. */
export const renderForwarded = renderer(
  (message: AttemptMessage, to: URL | undefined, columns?: number): string => {
    const { outcome, response_body } = message.attempt
    const where = to === undefined ? '' : `\n    ${chalk.dim(`→ ${to.href}`)}`
    const answer = outcome === 'succeeded' ? '' : renderBody(readable(response_body ?? ''), columns)
    return `${renderAttempt(message, columns)}${where}${answer}`
  },
)

/** Renders the routes of `listen`, and the secret or the file that holds it. */
export const renderListening = renderer(
  (registered: readonly RegisteredRoute[], secret: string, columns?: number): string => {
    const routes = registered.map(({ endpoint, target }): [string, string] => [
      'forward',
      `${eventsOf(endpoint.event_types)} → ${chalk.bold(target.to.href)}  ${chalk.dim(endpoint.id)}`,
    ])
    return `${chalk.green('Listening.')}\n\n${renderFields([...routes, ['secret', secret]], columns)}\n\nPress Ctrl-C to stop and remove ${registered.length === 1 ? 'the endpoint' : 'the endpoints'}.`
  },
)

/** Renders that the service has ended, is back, or has other data. */
export const renderConnection = renderer(
  (happening: { type: 'disconnected' } | { type: 'reconnected' | 'reset'; made: number }): string => {
    if (happening.type === 'disconnected')
      return 'Lost the connection to the service. Reconnecting. Press Ctrl-C to stop.'
    const what = happening.type === 'reset' ? 'The data was replaced.' : 'Reconnected to the service.'
    if (happening.made === 0) return what
    return `${what} Registered ${count(happening.made, 'endpoint')} again, with the same secret.`
  },
)

/** Limits of a printed body. */
const BODY_LIMITS = { lines: 20, characters: 400 }

/** The bar before each line of a body. */
const BAR = '    │ '

/** Renders the start of a body line by line behind a bar, beginning with a line break. */
export const renderBody = renderer(
  (body: string, columns?: number, mostLines: number | undefined = BODY_LIMITS.lines): string => {
    const lines = body.trimEnd().split(/\r?\n/)
    if (lines.length === 1 && lines[0] === '') return ''
    const more = lines.length > mostLines ? [`(${lines.length - mostLines} more lines)`] : []
    const shown = [...lines.slice(0, mostLines), ...more].flatMap((line) =>
      breakTo(
        columns && columns - BAR.length,
        printable(bounded(line, BODY_LIMITS.characters).replaceAll('\t', '  ')),
      ),
    )
    return shown.map((line) => `\n${chalk.dim(BAR)}${line}`).join('')
  },
)

/** Renders a body under a heading; JSON is indented. */
export const renderHeaded = renderer(
  (
    heading: string,
    body: string | null,
    columns?: number,
    mostLines?: number,
    absence: string | undefined = 'none',
  ): string => {
    if (body === null || body === '') return `\n    ${chalk.dim(`${heading}: ${absence}`)}`
    return `\n    ${chalk.dim(`${heading}:`)}${renderBody(laidOut(body), columns, mostLines)}`
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
    padTo(width, cutInside(width, check[0] ?? '')),
    padTo(WIDTHS.answer, answer),
    took.padStart(WIDTHS.took),
  ]
}

/** Returns why the attempt failed and what comes next; with the identifier, when the line above has no room. */
function reason({ attempt, next_attempt_at, id }: AttemptMessage, columns: number): string[] {
  const next =
    next_attempt_at === null ? 'no further attempt' : `next attempt ${formatTime(next_attempt_at)} UTC`
  const why = printable(attempt.error ?? '')
  if (columns === Infinity) return [`    ${why} ${chalk.dim(`(${next})`)}`]
  const after = wrapTo(columns - 4, columns < WIDE ? `${next}, ${id}` : next)
  const lines = [...wrapTo(columns - 4, why), ...after.map((line) => chalk.dim(line))]
  return lines.map((line) => `    ${line}`)
}

/** Returns a line, at most `most` characters of it. */
function bounded(line: string, most: number): string {
  const characters = Array.from(line.slice(0, most * 2 + 2))
  return characters.length > most ? `${characters.slice(0, most).join('')}…` : line
}

function laidOut(body: string): string {
  try {
    return JSON.stringify(JSON.parse(body), null, 2)
  } catch {
    return body
  }
}

function eventsOf(types: readonly string[]): string {
  return types.length === eventTypes.length ? 'all events' : types.join(' ')
}
