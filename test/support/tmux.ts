import { execFile, spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { vi } from 'vitest'
import { atEnd } from './at-end.ts'
import { cleanEnvironment, emptyDirectory } from './cli.ts'

const bin = fileURLToPath(new URL('../../bin/run.js', import.meta.url))
const run = promisify(execFile)

/** Whether tmux is installed; tests that need it are skipped, and their name says why. */
export const hasTmux = spawnSync('tmux', ['-V']).status === 0
export const inTmux = hasTmux ? 'in tmux' : 'in tmux (skipped: tmux is missing)'

/** A terminal in which commands run, and which shows what a person would see. */
export interface Screen {
  /**
   * Runs `tabwire` and returns the lines of the screen and of its history, once the command has ended, or once they match
   * `until`. A line that the terminal wrapped is one line here.
   */
  show(args: readonly string[], options: ShowOptions): Promise<Shown>
}

interface ShowOptions {
  cwd: string
  env?: Readonly<Record<string, string>>
  /** Ends a command that goes on. */
  until?: RegExp
  /** Keys to type then, as tmux names them, and the text that follows them. */
  keys?: readonly { press: string; until: RegExp }[]
}

export interface Shown {
  lines: string[]
  /** `undefined` when the command went on. */
  code: number | undefined
}

let sessions = 0

/** Runs a command, prints how it ended, and tells tmux. */
const SHELL =
  'channel=$1; shift; "$@"; printf "\\nended with %d\\n" $?; tmux wait-for -S "$channel"; exec cat'
const ENDED = /\n*ended with (\d+)$/

/** Starts a tmux server whose terminals have so many columns. */
export async function openScreen(columns: number): Promise<Screen> {
  const socket = join(await emptyDirectory(), 'tmux')
  const environment = { ...cleanEnvironment(), LANG: 'C.UTF-8', TERM: 'xterm-256color', TMUX: '' }
  const tmux = async (...args: string[]) =>
    (await run('tmux', ['-u', '-S', socket, '-f', '/dev/null', ...args], { env: environment })).stdout
  // A session that does nothing keeps the server, and its options, alive.
  await tmux('new-session', '-d', '-s', 'keeper', 'cat')
  await tmux('set-option', '-g', 'history-limit', '20000')
  await tmux('set-option', '-g', 'status', 'off')
  atEnd(() => tmux('kill-server').catch(() => undefined))
  return {
    async show(args, { cwd, env = {}, until, keys = [] }) {
      const name = `s${(sessions += 1)}`
      const variables = Object.entries(env).flatMap(([key, value]) => ['-e', `${key}=${value}`])
      const place = ['-x', String(columns), '-y', '50', '-c', cwd, ...variables]
      const command = ['sh', '-c', SHELL, 'sh', name, process.execPath, bin, ...args]
      await tmux('new-session', '-d', '-s', name, ...place, ...command)
      /** Returns what is shown, once it matches: tmux may not have read it all yet. */
      const shows = (pattern: RegExp) =>
        vi.waitFor(
          async () => {
            const text = await tmux('capture-pane', '-p', '-J', '-S', '-', '-t', name)
            const shown = text.replace(/[ ]+$/gm, '').trimEnd()
            if (pattern.test(shown)) return shown
            throw new Error(`tabwire ${args.join(' ')} did not show ${pattern}:\n${shown}`)
          },
          { timeout: 30_000, interval: 200 },
        )
      try {
        if (until === undefined) {
          await tmux('wait-for', name)
          const shown = await shows(ENDED)
          return { lines: shown.replace(ENDED, '').split('\n'), code: Number(ENDED.exec(shown)?.[1]) }
        }
        let shown = await shows(until)
        for (const { press, until: after } of keys) {
          await tmux('send-keys', '-t', name, press)
          shown = await shows(after)
        }
        const end = ENDED.exec(shown)
        return { lines: shown.split('\n'), code: end === null ? undefined : Number(end[1]) }
      } finally {
        await tmux('kill-session', '-t', name)
      }
    },
  }
}
