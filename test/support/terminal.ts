import { fileURLToPath } from 'node:url'
import { stripVTControlCharacters } from 'node:util'
import { bin, spawnProcess, type RunOptions, type Running } from './cli.ts'
import { isInstalled } from './programs.ts'

const program = fileURLToPath(new URL('./terminal.py', import.meta.url))

/** Whether a command can be given a terminal here; tests that need one are skipped, and their name says why. */
export const hasTerminals = isInstalled('python3', '-c', 'import pty, termios')
export const onTerminal = hasTerminals
  ? 'on a terminal'
  : 'on a terminal (skipped: it takes python3 with pty to make one)'

/** A command that runs on a terminal of its own. */
export interface OnTerminal extends Running {
  type(text: string): void
  /** How it ended, and whether the terminal was left as it was found. */
  left(): Promise<{ code: number; restored: boolean }>
  /** Resolves once what is to be seen matches: without colours, and without lines that were cleared. */
  shows(pattern: RegExp): Promise<string>
}

/** Runs `tabwire` on a terminal of so many columns. */
export async function tabwireOnTerminal(
  args: readonly string[],
  { columns = 80, ...options }: RunOptions & { columns?: number } = {},
): Promise<OnTerminal> {
  const command = [program, String(columns), '24', process.execPath, bin, ...args]
  const env = { TERM: 'xterm-256color', LANG: 'C.UTF-8', COLORTERM: '', ...options.env }
  const running = await spawnProcess('python3', command, { ...options, env, keepInput: true })
  let text = ''
  const looks = new Set<() => void>()
  running.child.stdout?.on('data', (piece: string) => {
    text += piece
    for (const look of looks) look()
  })
  return {
    ...running,
    type: (typed) => void running.child.stdin?.write(typed),
    async left() {
      const { stderr } = await running.ended
      return JSON.parse(stderr.trim().split('\n').at(-1) ?? '') as { code: number; restored: boolean }
    },
    shows: (pattern) =>
      new Promise((resolve, reject) => {
        const look = () => {
          const shown = stripVTControlCharacters(text.replace(/[^\n]*\r\u001b\[J/g, ''))
          if (pattern.test(shown)) resolve(shown)
        }
        looks.add(look)
        look()
        void running.ended.then(() => reject(new Error(`It ended before ${pattern}:\n${text}`)), reject)
      }),
  }
}
