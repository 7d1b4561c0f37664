import type { AttemptMessage } from '../../client.ts'
import type { Terminal } from '../base-command.ts'
import { renderListenStatus, type ListenView } from '../render/tail.ts'
import { createScreen, openKeys } from '../tail/live-view.ts'
import type { Key } from '../tail/view.ts'

interface BarOptions {
  terminal: Terminal
  say(text: string): void
  /** Resolves with a message about the result. */
  resend(id: string): Promise<string>
  /** Handles the key q. */
  quit(): void
  /** Handles Ctrl-C. */
  interrupt(): void
}

/** Runs the bar of `listen` at a terminal: a status line with keys below all output. */
export function openBar({ terminal, say, resend, quit, interrupt }: BarOptions) {
  let view: ListenView = { forwarded: 0, failed: 0, last: undefined }
  const screen = createScreen(terminal, (columns) => renderListenStatus(view, columns))
  const tell = (text: string) => screen.above(() => say(text))
  const acts: Partial<Record<Key, () => void>> = {
    resend() {
      const { last } = view
      // A failed resend does not end `listen`.
      if (last !== undefined)
        void resend(last.id).then(tell, (error: unknown) =>
          tell(error instanceof Error ? error.message : String(error)),
        )
    },
    clear: () => screen.clearAll(),
    space: () => tell(''),
    quit,
    interrupt,
  }
  const close = openKeys(terminal, screen, (key) => acts[key]?.())
  return {
    /** Writes lines above the bar. */
    above: (write: () => void) => screen.above(write),
    /** Counts an attempt, which `r` resends from now on. */
    count({ attempt, id, event_type, external_check_id }: AttemptMessage): void {
      const failed = view.failed + (attempt.outcome === 'succeeded' ? 0 : 1)
      view = { forwarded: view.forwarded + 1, failed, last: { id, event_type, external_check_id } }
    },
    close,
  }
}
