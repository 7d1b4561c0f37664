import { widthOf } from '../render/width.ts'
import type { Terminal } from '../terminal.ts'

const CLEAR = '\r\u001b[J'
const HIDE_CURSOR = '\u001b[?25l'
const SHOW_CURSOR = '\u001b[?25h'

/** Keeps one line of status below everything that is written; `status` makes it for so many columns. */
export function createScreen(
  { write, columns }: Pick<Terminal, 'write' | 'columns'>,
  status: (columns: number) => string,
) {
  let drawn = ''
  let open = false
  const draw = () => {
    // The last column stays free: some terminals go to the next line as soon as it is filled.
    drawn = status(columns() - 1)
    write(drawn)
  }
  const clear = () => write(CLEAR)
  return {
    open(): void {
      if (open) return
      open = true
      write(HIDE_CURSOR)
      draw()
    },
    /** Has something written above the status. */
    above(writeLines: () => void): void {
      if (!open) return writeLines()
      clear()
      writeLines()
      draw()
    },
    redraw(): void {
      if (!open) return
      clear()
      draw()
    },
    /** A terminal that has become narrower has broken the status into several lines. */
    resized(): void {
      if (!open) return
      const lines = Math.max(Math.ceil(widthOf(drawn) / Math.max(columns(), 1)), 1)
      if (lines > 1) write(`\u001b[${lines - 1}A`)
      clear()
      draw()
    },
    /** Leaves the terminal as it was, with everything that was written. */
    close(): void {
      if (!open) return
      open = false
      clear()
      write(SHOW_CURSOR)
    },
  }
}
