import chalk from 'chalk'
import type { Delivery } from '../../model/delivery.ts'
import type { Told } from '../tail/deduplicate.ts'
import { renderHeaded, renderAttempt } from './attempt.ts'
import { printable, renderer, renderFields, count, status as coloured } from './text.ts'
import { chosenOf, waitingNow, type View } from '../tail/view.ts'
import { keyHelp } from '../tail/keys.ts'
import { cutTo, widthOf } from './layout.ts'
import type { RequestView } from '../../client.ts'
import { faultsText } from './fault.ts'

/** A check of a dozen items, laid out: what was sent is to be read, and not only recognised. */
const EVENT_LINES = 150

/** A line of `tail`, with the bodies below it when `eventBody` is there, which is `null` when it could not be had. */
export const renderTold = renderer((told: Told, columns: number, eventBody?: string | null): string => {
  if (told.type === 'request') {
    const { request_body, response_body } = told.data
    const bodies =
      eventBody === undefined
        ? ''
        : `${renderHeaded('sent', request_body, EVENT_LINES)}${renderHeaded('answered', response_body, EVENT_LINES)}`
    return renderRequest(told.data, columns) + bodies
  }
  const sent = eventBody === undefined ? '' : renderHeaded('event', eventBody, EVENT_LINES)
  if (told.type === 'delivery') return renderRetired(told.data) + sent
  const answered = eventBody === undefined ? '' : renderHeaded('answered', told.data.attempt.response_body)
  return renderAttempt(told.data, columns) + sent + answered
})

/** The line below a `tail` on a terminal: what it does, and the keys, as many of them as there is room for. */
export function renderStatus(view: View, columns: number): string {
  const parts = [state(view), ...counts(view)]
  const keys = hints(view, false)
  // The last ones tell how to leave and what else there is; those before them give way, from the end.
  const fewer = keys.map((_key, given) => [...keys.slice(0, -2 - given), ...keys.slice(-2)])
  const fitting = [hints(view, true), ...fewer].find((some) => widthOf(line(parts, some)) <= columns) ?? []
  return cutTo(columns, line(parts, fitting))
}

export function renderKeyHelp(): string {
  return renderFields(keyHelp)
}

/** One request to the API as `tail` shows it, cut to the terminal's width; in a pipe it is whole. */
export const renderRequest = renderer(
  (request: RequestView, columns: number | undefined = Infinity): string => {
    const { method, path, status, duration_ms, started_at, push, id, faults } = request
    const colour = status < 400 ? chalk.green : chalk.red
    const outcome = push === null ? '' : `  ${coloured(push.outcome)}`
    const end = `  ${colour(status)}${outcome}  ${duration_ms} ms`
    const befallen = faultsText(faults)
    const begin = `→ ${started_at.slice(11, 19)}  `
    const target = `${method} ${printable(path)}`
    const taken = widthOf(begin + end + befallen)
    const name = columns >= taken + widthOf(target) + 2 + id.length ? `  ${chalk.dim(id)}` : ''
    return `${begin}${cutTo(Math.max(columns - taken, 20), target)}${end}${name}${befallen}`
  },
)

function renderRetired({ event_type, external_check_id, attempts, id }: Delivery): string {
  const about = external_check_id === null ? '' : `  ${printable(external_check_id)}`
  const before = attempts.length === 0 ? 'never attempted' : 'no further attempt'
  return `${chalk.red('✗')} ${event_type}${about}  ${chalk.red('dead')}, ${before}: the endpoint is disabled or gone  ${chalk.dim(id)}`
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

/** Each key with what it does next; `whole` names the delivery that would be sent again. */
function hints(view: View, whole: boolean): string[] {
  const chosen = chosenOf(view)
  const back = view.chosen > 0 ? `, ${count(view.chosen, 'delivery', 'deliveries')} back` : ''
  const subject =
    chosen === undefined
      ? ''
      : ` ${chosen.event_type} ${cutTo(20, printable(chosen.external_check_id ?? ''))}`
  const resend = chosen === undefined ? [] : [key('r', `resend${whole ? `${subject.trimEnd()}${back}` : ''}`)]
  return [
    key('p', view.paused ? 'go on' : 'pause'),
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
