import type { Terminal } from '../base-command.ts'
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
  open()
  return { open, close }
}
