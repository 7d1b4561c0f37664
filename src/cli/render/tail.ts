import chalk from 'chalk'
import type { Delivery } from '../../model/delivery.ts'
import type { TailMessage } from '../tail/watch.ts'
import { renderHeaded, renderAttempt, renderFailure, faultsText } from './attempt.ts'
import { count } from '../../model/text/count.ts'
import { printable, renderer, status as coloured } from './text.ts'
import { chosenOf, waitingNow, type Shown, type View, keyHelp } from '../tail/view.ts'
import { cutTo, widthOf, renderFields } from './layout.ts'
import type { RequestView } from '../../client.ts'

/** Line limit of an event's body: enough for an indented check with a dozen items. */
const EVENT_LINES = 150

/**
 * Renders a line of `tail`, with the bodies below it unless `eventBody` is undefined; `null` means that it is not
 * available. `endpoint` is the URL of the receiver.
 */
export const renderTailMessage = renderer(
  (message: TailMessage, columns: number, eventBody?: string | null, endpoint?: string): string => {
    if (message.type === 'request') {
      const { request_body, response_body } = message.data
      const bodies =
        eventBody === undefined
          ? ''
          : `${renderHeaded('request', request_body, columns, EVENT_LINES)}${renderHeaded('response', response_body, columns, EVENT_LINES)}`
      return renderRequest(message.data, columns) + bodies
    }
    const sent = eventBody === undefined ? '' : renderHeaded('event', eventBody, columns, EVENT_LINES)
    if (message.type === 'delivery') return renderRetired(message.data) + sent
    const answered =
      eventBody === undefined
        ? renderFailure(message.data, columns)
        : renderHeaded('response', message.data.attempt.response_body, columns)
    return renderAttempt(message.data, columns, endpoint) + sent + answered
  },
)

/** Renders the status line of `tail` on a terminal: its state, and as many keys as fit. */
export function renderStatus(view: View, columns: number): string {
  const parts = [state(view), ...counts(view)]
  const keys = hints(view, false)
  // The last two keys, help and quit, always stay; those before them are left out from the end.
  const fewer = keys.map((_key, given) => [...keys.slice(0, -2 - given), ...keys.slice(-2)])
  return fittingLine(columns, parts, [hints(view, true), ...fewer])
}

/** Renders a status line with the first of these lists of keys that fits. */
function fittingLine(columns: number, parts: readonly string[], lists: readonly string[][]): string {
  const fitting = lists.find((keys) => widthOf(line(parts, keys)) <= columns) ?? []
  return cutTo(columns, line(parts, fitting))
}

/** What the bar of `listen` shows. */
export interface ListenView {
  forwarded: number
  failed: number
  /** The delivery that `r` resends. */
  last: Shown | undefined
}

/** Renders the bar of `listen`: how much was forwarded, and the keys; the delivery to resend is named where it fits. */
export function renderListenStatus({ forwarded, failed, last }: ListenView, columns: number): string {
  const total = `${forwarded} forwarded${failed > 0 ? `, ${chalk.red(`${failed} failed`)}` : ''}`
  const parts = [chalk.black.bgGreen(' LISTENING '), total]
  const keys = [key('c', 'clear'), key('q', 'quit')]
  const resends = last === undefined ? [] : [`resend ${subjectOf(last)}`, 'resend']
  const withResend = resends.map((does) => [key('r', does), ...keys])
  return fittingLine(columns, parts, [...withResend, keys, keys.slice(1)])
}

function subjectOf({ event_type, external_check_id }: Shown): string {
  return `${event_type} ${cutTo(20, printable(external_check_id ?? ''))}`.trimEnd()
}

export function renderKeyHelp(): string {
  return renderFields(keyHelp)
}

/** Renders one API request for `tail`, cut to the terminal's width; uncut in a pipe. */
export const renderRequest = renderer(
  (request: RequestView, columns: number | undefined = Infinity): string => {
    const { method, path, status, duration_ms, started_at, push, id, faults } = request
    const colour = status < 400 ? chalk.green : chalk.red
    const outcome = push === null ? '' : `  ${coloured(push.outcome)}`
    const end = `  ${colour(status)}${outcome}  ${duration_ms} ms`
    const injected = faultsText(faults)
    const begin = `→ ${started_at.slice(11, 19)}  `
    const target = `${method} ${printable(path)}`
    const taken = widthOf(begin + end + injected)
    const name = columns >= taken + widthOf(target) + 2 + id.length ? `  ${chalk.dim(id)}` : ''
    return `${begin}${cutTo(Math.max(columns - taken, 20), target)}${end}${name}${injected}`
  },
)

function renderRetired({ event_type, external_check_id, attempts, id }: Delivery): string {
  const about = external_check_id === null ? '' : `  ${printable(external_check_id)}`
  const before = attempts.length === 0 ? 'never attempted' : 'no further attempt'
  return `${chalk.red('✗')} ${event_type}${about}  ${chalk.red('dead')}, ${before}: the endpoint is disabled or deleted  ${chalk.dim(id)}`
}

function line(parts: readonly string[], keys: readonly string[]): string {
  return [parts.join('  '), ...keys].join(chalk.dim(' · '))
}

function state({ paused }: View): string {
  return paused ? chalk.black.bgYellow(' PAUSED ') : chalk.black.bgGreen(' LIVE ')
}

function counts(view: View): string[] {
  const { paused, shown, failed, failedOnly, dropped } = view
  const total = `${shown} shown${failed > 0 ? `, ${chalk.red(`${failed} failed`)}` : ''}`
  const lost = dropped > 0 ? ` (${dropped} older ones dropped)` : ''
  return [
    paused ? chalk.yellow(`${waitingNow(view)} waiting${lost}`) : total,
    ...(failedOnly ? [chalk.yellow('failures only')] : []),
  ]
}

/** Returns each key with its effect; `whole` names the delivery to resend. */
function hints(view: View, whole: boolean): string[] {
  const chosen = chosenOf(view)
  const back = view.chosen > 0 ? `, ${count(view.chosen, 'delivery', 'deliveries')} back` : ''
  const resend =
    chosen === undefined ? [] : [key('r', whole ? `resend ${subjectOf(chosen)}${back}` : 'resend')]
  return [
    key('p', view.paused ? 'resume' : 'pause'),
    key('f', view.failedOnly ? 'all' : 'failures'),
    ...resend,
    key('o', 'open'),
    key('q', 'quit'),
    key('?', 'keys'),
  ]
}

function key(letter: string, does: string): string {
  return `${chalk.bold(letter)} ${chalk.dim(does)}`
}
