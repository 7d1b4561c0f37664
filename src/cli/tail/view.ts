import type { Terminal } from '../base-command.ts'
import type { TailMessage } from './watch.ts'

/** Action of a key in an interactive `tail`. */
export type Key =
  | 'pause'
  | 'filter'
  | 'resend'
  | 'open'
  | 'clear'
  | 'quit'
  | 'help'
  | 'older'
  | 'newer'
  | 'space'
  | 'interrupt'
  | 'suspend'

const ESCAPE = '\u001b'

const keys: Readonly<Record<string, Key>> = {
  p: 'pause',
  ' ': 'pause',
  f: 'filter',
  r: 'resend',
  o: 'open',
  c: 'clear',
  q: 'quit',
  '?': 'help',
  k: 'older',
  j: 'newer',
  '\r': 'space',
  '\n': 'space',
  // A terminal in raw mode sends these characters instead of signals.
  '\u0003': 'interrupt',
  '\u001a': 'suspend',
  [`${ESCAPE}[A`]: 'older',
  [`${ESCAPE}[B`]: 'newer',
  [`${ESCAPE}OA`]: 'older',
  [`${ESCAPE}OB`]: 'newer',
}

/** Returns the actions of the keys in a terminal's input, which can hold several; ignores unknown keys. */
export function keysIn(sent: string): Key[] {
  const pressed = sent.match(/\u001b(?:\[[\d;]*[A-Za-z~]|O[A-Za-z])|[^]/gu) ?? []
  return pressed.flatMap((text) => keys[text.length === 1 ? text.toLowerCase() : text] ?? [])
}

/** Help texts of the keys. */
export const keyHelp: readonly (readonly [key: string, does: string])[] = [
  ['p', 'pause or resume; new lines wait during a pause'],
  ['f', 'show only failures, or everything'],
  ['↑ ↓', 'select a delivery (default: the last one)'],
  ['r', 'resend the selected delivery with a new signature'],
  ['o', 'open the inspector in the browser'],
  ['c', 'clear the screen'],
  ['Enter', 'print a blank line'],
  ['q', 'quit, like Ctrl-C'],
]

/** Reads keys one by one, without echo, until closed. */
export function openKeyboard(input: Terminal['input'], onKey: (key: Key) => void) {
  const read = (sent: string) => {
    for (const key of keysIn(sent)) onKey(key)
  }
  const open = () => {
    input.setRawMode(true)
    input.setEncoding('utf8')
    input.on('data', read)
    input.resume()
  }
  const close = () => {
    input.off('data', read)
    input.setRawMode(false)
    input.pause()
  }
  // A terminal that was closed does not change its mode.
  input.on('error', () => undefined)
  open()
  return { open, close }
}

/** A shown delivery, which can be chosen and resent. */
export interface Shown {
  id: string
  event_type: string
  external_check_id: string | null
}

/** State of an interactive `tail`. */
export interface View {
  paused: boolean
  failedOnly: boolean
  waiting: readonly TailMessage[]
  /** Waiting messages that were dropped, oldest first. */
  dropped: number
  shown: number
  failed: number
  /** Newest first, each once. */
  recent: readonly Shown[]
  /** Index in `recent`. */
  chosen: number
}

/** Limit of waiting messages, which bounds the memory of a long pause. */
const MOST_WAITING = 5_000
const MOST_RECENT = 100

export function newView(failedOnly: boolean): View {
  return { paused: false, failedOnly, waiting: [], dropped: 0, shown: 0, failed: 0, recent: [], chosen: 0 }
}

/** A new state, and the messages to show now. */
export interface ViewChange {
  view: View
  show: readonly TailMessage[]
}

/** Handles a message: it is shown, filtered out, or waits. */
export function take(view: View, message: TailMessage): ViewChange {
  if (!view.paused) return shown(view, [message])
  const waiting = [...view.waiting, message]
  const over = waiting.length > MOST_WAITING ? 1 : 0
  return { view: { ...view, waiting: waiting.slice(over), dropped: view.dropped + over }, show: [] }
}

/** Handles a key that changes the view; ignores others. */
export function press(view: View, key: Key): ViewChange {
  if (key === 'pause' && view.paused)
    return shown({ ...view, paused: false, waiting: [], dropped: 0 }, view.waiting)
  if (key === 'pause') return { view: { ...view, paused: true }, show: [] }
  if (key === 'filter') return { view: { ...view, failedOnly: !view.failedOnly }, show: [] }
  if (key === 'older' || key === 'newer') {
    const next = view.chosen + (key === 'older' ? 1 : -1)
    const chosen = Math.min(Math.max(next, 0), Math.max(view.recent.length - 1, 0))
    return { view: { ...view, chosen }, show: [] }
  }
  return { view, show: [] }
}

/** Returns how many waiting messages pass the filter. */
export function waitingNow({ waiting, failedOnly }: View): number {
  return failedOnly ? waiting.filter((message) => isWanted(message, true)).length : waiting.length
}

export function chosenOf({ recent, chosen }: View): Shown | undefined {
  return recent[chosen]
}

function shown(view: View, messages: readonly TailMessage[]): ViewChange {
  const show = messages.filter((one) => isWanted(one, view.failedOnly))
  return { view: show.reduce(counted, view), show }
}

function isWanted(message: TailMessage, failedOnly: boolean): boolean {
  return message.type === 'request' ? !failedOnly : passes(message, { failed: failedOnly, requests: true })
}

function counted(view: View, message: TailMessage): View {
  const failed = view.failed + (hasFailed(message) ? 1 : 0)
  if (message.type === 'request') return { ...view, shown: view.shown + 1, failed }
  const { id, event_type, external_check_id } = message.data
  const others = view.recent.filter((one) => one.id !== id)
  const recent = [{ id, event_type, external_check_id }, ...others].slice(0, MOST_RECENT)
  // A chosen delivery stays chosen when new ones come.
  const kept = view.chosen === 0 ? 0 : recent.findIndex((one) => one.id === chosenOf(view)?.id)
  return { ...view, shown: view.shown + 1, failed, recent, chosen: Math.max(kept, 0) }
}

function hasFailed({ type, data }: TailMessage): boolean {
  if (type === 'request') return data.status >= 400
  return type === 'delivery' || data.attempt.outcome !== 'succeeded'
}

/** Filter of the shown messages. */
interface Filter {
  type?: string | undefined
  endpoint?: string | undefined
  failed: boolean
  requests: boolean
}

export function passes(message: TailMessage, { type, endpoint, failed, requests }: Filter): boolean {
  if (message.type === 'request') return requests
  const { data } = message
  if (type !== undefined && data.event_type !== type) return false
  if (endpoint !== undefined && data.endpoint_id !== endpoint) return false
  return !failed || !('attempt' in data) || data.attempt.outcome !== 'succeeded'
}
