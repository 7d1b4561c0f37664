import type { Terminal } from '../base-command.ts'
import { renderKeyHelp, renderStatus } from '../render/tail.ts'
import { openKeyboard, type Key, chosenOf, newView, press, take, type ViewChange } from './view.ts'
import type { TailMessage } from './watch.ts'
import { widthOf } from '../render/layout.ts'

interface LiveViewOptions {
  terminal: Terminal
  failedOnly: boolean
  lineOf(message: TailMessage): Promise<string>
  say(text: string): void
  /** Actions beyond the screen; each resolves with a message about its result. */
  resend(id: string): Promise<string>
  openPage(): Promise<string>
  quit(): void
  interrupt(): void
}

/** Runs an interactive `tail`: lines above, the status line below, and keys. */
export function openLiveView(parts: LiveViewOptions) {
  const { terminal, lineOf } = parts
  let view = newView(parts.failedOnly)
  let printing = Promise.resolve()
  const screen = createScreen(terminal, (columns) => renderStatus(view, columns))
  const say = (text: string) => screen.above(() => parts.say(text))

  const apply = ({ view: next, show }: ViewChange): Promise<void> => {
    view = next
    if (show.length === 0) screen.redraw()
    // In sequence, since the body of an event may have to be fetched.
    printing = printing
      .catch(() => undefined)
      .then(async () => {
        for (const message of show) {
          const text = await lineOf(message)
          screen.above(() => terminal.write(`${text}\n`))
        }
      })
    return printing
  }
  // A failed action does not end `tail`.
  const failed = (error: unknown) => say(error instanceof Error ? error.message : String(error))
  const tell = (work: Promise<string>) => void work.then(say, failed)
  const acts: Partial<Record<Key, () => void>> = {
    resend() {
      const chosen = chosenOf(view)
      if (chosen !== undefined) tell(parts.resend(chosen.id))
    },
    open: () => tell(parts.openPage()),
    help: () => say(renderKeyHelp()),
    clear: () => screen.clearAll(),
    space: () => say(''),
    quit: () => parts.quit(),
    interrupt: () => parts.interrupt(),
  }
  const close = openKeys(terminal, screen, (key) => {
    const act = acts[key]
    if (act === undefined) apply(press(view, key)).catch(failed)
    else act()
  })

  return { take: (message: TailMessage) => apply(take(view, message)), say, close }
}

/**
 * Opens the status line and reads keys; returns a function that restores the terminal. Ctrl-Z suspends the process, which a
 * terminal in raw mode does not do itself; `fg` continues it.
 */
export function openKeys(
  terminal: Terminal,
  screen: ReturnType<typeof createScreen>,
  onKey: (key: Key) => void,
): () => void {
  const keyboard = openKeyboard(terminal.input, (key) => {
    if (key === 'suspend') suspend()
    else onKey(key)
  })
  const close = () => {
    screen.close()
    keyboard.close()
  }
  const suspend = () => {
    // Windows has no signal that suspends.
    if (process.platform === 'win32') return
    close()
    process.once('SIGCONT', () => {
      keyboard.open()
      screen.open()
    })
    process.kill(0, 'SIGTSTP')
  }
  terminal.onResize(() => screen.resized())
  // The terminal must be restored at every end, for the next command line.
  process.once('exit', close)
  screen.open()
  return close
}

const CLEAR_ALL = '\u001b[2J\u001b[3J\u001b[H'
const CLEAR = '\r\u001b[J'
const HIDE_CURSOR = '\u001b[?25l'
const SHOW_CURSOR = '\u001b[?25h'

/** Keeps a status line below all output; `status` renders it for a number of columns. */
export function createScreen(
  { write, columns }: Pick<Terminal, 'write' | 'columns'>,
  status: (columns: number) => string,
) {
  let drawn = ''
  let open = false
  const draw = () => {
    // The last column stays empty: some terminals wrap as soon as it is filled.
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
    /** Writes lines above the status line. */
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
    /** Clears the screen and its history. */
    clearAll(): void {
      if (!open) return
      write(CLEAR_ALL)
      draw()
    },
    /** Clears the status line also where a narrower terminal has wrapped it. */
    resized(): void {
      if (!open) return
      const lines = Math.max(Math.ceil(widthOf(drawn) / Math.max(columns(), 1)), 1)
      if (lines > 1) write(`\u001b[${lines - 1}A`)
      clear()
      draw()
    },
    /** Removes the status line and shows the cursor; the output stays. */
    close(): void {
      if (!open) return
      open = false
      clear()
      write(SHOW_CURSOR)
    },
  }
}
