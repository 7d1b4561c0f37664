import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { createServer, type Socket } from 'node:net'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { vi } from 'vitest'
import { atEnd } from './at-end.ts'
import { isInstalled } from './programs.ts'
import { bin, cleanEnvironment, emptyDirectory } from './cli.ts'
const warm = fileURLToPath(new URL('./warm-terminal.mjs', import.meta.url))
const run = promisify(execFile)

/** Whether tmux is installed; tests that need it are skipped, and their name says why. */
export const hasTmux = isInstalled('tmux', '-V')
export const inTmux = hasTmux ? 'in tmux' : 'in tmux (skipped: tmux is missing)'

/** A terminal in which commands run, and which shows what a person would see. */
export interface Screen {
  /**
   * Runs `tabwire` and returns the lines of the screen and of its history, once the command has ended, or once they match
   * `until`. A line that the terminal wrapped is one line here. Without `until`, the process has run other commands
   * before, unless `isNew` is given.
   */
  show(args: readonly string[], options: ShowOptions): Promise<Shown>
}

interface ShowOptions {
  cwd: string
  env?: Readonly<Record<string, string>>
  /** Ends a command that goes on. */
  until?: RegExp
  /** Runs the command in a process of its own. */
  isNew?: boolean
}

export interface Shown {
  lines: string[]
  /** `undefined` when the command went on. */
  code: number | undefined
}

/** A terminal with a process that runs one command after the other. */
interface WarmTerminal {
  name: string
  run(command: { args: readonly string[]; cwd: string; env: Readonly<Record<string, string>> }): Promise<void>
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
  const place = ['-x', String(columns), '-y', '50']
  /** Returns what is shown, once it matches: tmux may not have read it all yet. */
  const shows = (name: string, pattern: RegExp, args: readonly string[]) =>
    vi.waitFor(
      async () => {
        const text = await tmux('capture-pane', '-p', '-J', '-S', '-', '-t', name)
        const shown = text.replace(/[ ]+$/gm, '').trimEnd()
        if (pattern.test(shown)) return shown
        throw new Error(`tabwire ${args.join(' ')} did not show ${pattern}:\n${shown}`)
      },
      { timeout: 30_000, interval: 100 },
    )
  const resultOf = (shown: string): Shown => {
    const end = ENDED.exec(shown)
    return {
      lines: shown.replace(ENDED, '').split('\n'),
      code: end === null ? undefined : Number(end[1]),
    }
  }

  const idle: WarmTerminal[] = []
  const openWarm = async (): Promise<WarmTerminal> => {
    const name = `s${(sessions += 1)}`
    const path = join(await emptyDirectory(), 'commands')
    const server = createServer().listen(path)
    await once(server, 'listening')
    const connected = once(server, 'connection') as Promise<[Socket]>
    await tmux('new-session', '-d', '-s', name, ...place, process.execPath, warm, path)
    const [socket] = await connected
    server.close()
    atEnd(() => Promise.resolve(socket.destroy()))
    return {
      name,
      async run(command) {
        socket.write(`${JSON.stringify(command)}\n`)
        await once(socket, 'data')
      },
    }
  }
  const showWarm = async (args: readonly string[], { cwd, env = {} }: ShowOptions): Promise<Shown> => {
    const terminal = idle.pop() ?? (await openWarm())
    await terminal.run({ args, cwd, env })
    const shown = await shows(terminal.name, ENDED, args)
    idle.push(terminal)
    return resultOf(shown)
  }

  return {
    async show(args, options) {
      const { cwd, env = {}, until, isNew = false } = options
      if (until === undefined && !isNew) return showWarm(args, options)
      const name = `s${(sessions += 1)}`
      const variables = Object.entries(env).flatMap(([key, value]) => ['-e', `${key}=${value}`])
      const command = ['sh', '-c', SHELL, 'sh', name, process.execPath, bin, ...args]
      await tmux('new-session', '-d', '-s', name, ...place, '-c', cwd, ...variables, ...command)
      try {
        if (until === undefined) await tmux('wait-for', name)
        return resultOf(await shows(name, until ?? ENDED, args))
      } finally {
        await tmux('kill-session', '-t', name)
      }
    },
  }
}
