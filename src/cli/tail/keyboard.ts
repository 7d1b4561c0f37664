import type { Terminal } from '../terminal.ts'
import { keysIn, type Key } from './keys.ts'

/** Reads keys one by one, without echo, until it is closed. */
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
