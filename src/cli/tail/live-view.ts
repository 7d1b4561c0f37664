import type { Terminal } from '../base-command.ts'
import { renderKeyHelp, renderStatus } from '../render/tail.ts'
import { openKeyboard, type Key } from './keys.ts'
import type { Told } from './deduplicate.ts'
import { chosenOf, newView, press, take, type Turn } from './view.ts'
import { widthOf } from '../render/layout.ts'

interface LiveParts {
  terminal: Terminal
  failedOnly: boolean
  lineOf(told: Told): Promise<string>
  say(text: string): void
  /** What keys set off beyond the screen; each tells in words what came of it. */
  resend(id: string): Promise<string>
  openPage(): Promise<string>
  quit(): void
  interrupt(): void
}

/** Runs `tail` at a terminal: lines above, the status below, and keys. */
export function openLiveView(parts: LiveParts) {
  const { terminal, lineOf } = parts
  let view = newView(parts.failedOnly)
  let printing = Promise.resolve()
  const screen = createScreen(terminal, (columns) => renderStatus(view, columns))
  const say = (text: string) => screen.above(() => parts.say(text))

  const turn = ({ view: next, show }: Turn): Promise<void> => {
    view = next
    if (show.length === 0) screen.redraw()
    // One after the other, since the body of an event may have to be asked for.
    printing = printing
      .catch(() => undefined)
      .then(async () => {
        for (const told of show) {
          const text = await lineOf(told)
          screen.above(() => terminal.write(`${text}\n`))
        }
      })
    return printing
  }
  // A key that cannot do its work ends nothing.
  const failed = (error: unknown) => say(error instanceof Error ? error.message : String(error))
  const tell = (work: Promise<string>) => void work.then(say, failed)
  const acts: Partial<Record<Key, () => void>> = {
    resend() {
      const chosen = chosenOf(view)
      if (chosen !== undefined) tell(parts.resend(chosen.id))
    },
    open: () => tell(parts.openPage()),
    help: () => say(renderKeyHelp()),
    space: () => say(''),
    quit: () => parts.quit(),
    interrupt: () => parts.interrupt(),
    suspend: () => suspend(),
  }
  const keyboard = openKeyboard(terminal.input, (key) => {
    const act = acts[key]
    if (act === undefined) turn(press(view, key)).catch(failed)
    else act()
  })
  const close = () => {
    screen.close()
    keyboard.close()
  }
  /** As Ctrl-Z does everywhere, which a terminal in raw mode leaves to us; `fg` brings it back. */
  const suspend = () => {
    close()
    process.once('SIGCONT', () => {
      keyboard.open()
      screen.open()
    })
    process.kill(0, 'SIGTSTP')
  }
  terminal.onResize(() => screen.resized())
  // However it ends: the next command line is to be seen, and typed into.
  process.once('exit', close)
  screen.open()

  return { take: (told: Told) => turn(take(view, told)), say, close }
}

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
