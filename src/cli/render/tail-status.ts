import chalk from 'chalk'
import { chosenOf, waitingNow, type View } from '../tail/view.ts'
import { keyHelp } from '../tail/keys.ts'
import { printable, renderFields } from './text.ts'
import { cutTo, widthOf } from './width.ts'
import { count } from './words.ts'

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
