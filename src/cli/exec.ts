import type { ChildProcess } from 'node:child_process'
import type { EventEmitter } from 'node:events'
import { existsSync } from 'node:fs'
import { constants } from 'node:os'
import { basename, delimiter, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { ApiError, type Client, type GuestsReport, type GuestsWanted } from '../client.ts'
import type { Delivery } from '../model/delivery.ts'
import type { FlagShape } from './config/schema.ts'
import { CommandError, proxyIn } from './errors.ts'

/** A definition of a flag, as far as its form on the command line goes. */
type Flag = Pick<FlagShape, 'type'> & { char?: string | undefined; aliases?: string[] | undefined }

/**
 * Splits the words of `exec` into its own flags and the command to run. The command starts behind `--`, or at the first
 * word that is neither a flag nor a flag's value: PowerShell removes `--` from the arguments of scripts.
 */
export function splitCommand(
  argv: readonly string[],
  flags: Readonly<Record<string, Flag>>,
): { own: string[]; command: string[] } {
  let end = 0
  while (end < argv.length) {
    const word = argv[end] ?? ''
    if (word === '--') return { own: argv.slice(0, end), command: argv.slice(end + 1) }
    if (!word.startsWith('-') || word === '-') break
    end += takesNextWord(word, flags) ? 2 : 1
  }
  return { own: argv.slice(0, end), command: argv.slice(end) }
}

/** Returns true for `--port`, whose value is the next word; false for `--port=0` and for switches. */
function takesNextWord(word: string, flags: Readonly<Record<string, Flag>>): boolean {
  const found = Object.entries(flags).find(
    ([name, { char, aliases = [] }]) =>
      word === `--${name}` || word === `-${char}` || aliases.some((alias) => word === `--${alias}`),
  )
  return found?.[1].type === 'option'
}

/** Time that a command has to end after a signal, in milliseconds; then it is killed. */
const GRACE_MS = 5_000

/** Exit codes of POSIX shells. */
const NOT_EXECUTABLE = 126
const NOT_FOUND = 127

/** A command that runs. */
export interface RunningCommand {
  /**
   * Resolves with the exit code; 128 plus the signal's number when a signal ended the command.
   * @throws CommandError with exit code 127 when there is no such command, and 126 when it cannot be executed.
   */
  ended: Promise<number>
  /** Passes a signal on, except Ctrl-C at a terminal. The command is killed when it has not ended 5 seconds later. */
  signal(signal: NodeJS.Signals): void
}

/**
 * Runs a command without a shell, on this process's standard streams. On Windows, finds `.cmd` files as a shell does.
 *
 * Away from a terminal, the command gets a process group of its own: a signal reaches all its processes, and processes that
 * are left when it ends are ended. At a terminal it stays in our group, or Ctrl-C and reads from the terminal would not
 * reach it. `defaults` are variables for an environment that lacks them.
 */
export async function runCommand(
  [file = '', ...args]: readonly string[],
  variables: Readonly<Record<string, string>>,
  defaults: Readonly<Record<string, string>> = {},
): Promise<RunningCommand> {
  const { default: spawn } = await import('cross-spawn')
  const hasOwnGroup = process.platform !== 'win32' && !process.stdin.isTTY
  const child = spawn(file, args, {
    stdio: 'inherit',
    env: commandEnvironment(process.env, variables, defaults),
    detached: hasOwnGroup,
  })
  const send = (signal: NodeJS.Signals) =>
    void (hasOwnGroup ? signalGroup(child, signal) : child.kill(signal))
  const kill = () => send('SIGKILL')
  // Kills the command when this process exits.
  process.once('exit', kill)
  let timer: NodeJS.Timeout | undefined
  const ended = exitCodeOf(child, file).finally(() => {
    clearTimeout(timer)
    process.off('exit', kill)
    if (hasOwnGroup) send('SIGTERM')
  })
  return {
    ended,
    signal(signal) {
      // At a terminal, Ctrl-C has reached the command already, which may go on, as a REPL does.
      if (!hasOwnGroup && signal === 'SIGINT' && process.stdin.isTTY) return
      // Windows sends Ctrl-Break to the command itself.
      if (signal !== 'SIGBREAK') send(signal)
      timer ??= setTimeout(kill, GRACE_MS)
    },
  }
}

/** Variables that would lead `tabwire` commands inside the command to another service. */
const connection = new Set(['TABWIRE_PROFILE', 'TABWIRE_API_KEY_FILE', 'TABWIRE_CACERT'])

/**
 * Returns the environment of a command: ours without variables that lead to another service, with `variables`, and with
 * those `defaults` that ours lacks or has empty. Windows ignores the case of names.
 */
export function commandEnvironment(
  environment: NodeJS.ProcessEnv,
  variables: Readonly<Record<string, string>>,
  defaults: Readonly<Record<string, string>>,
  system: NodeJS.Platform = process.platform,
): NodeJS.ProcessEnv {
  const known = (name: string) => (system === 'win32' ? name.toUpperCase() : name)
  const kept = Object.entries(environment).filter(
    ([name, value]) =>
      !connection.has(known(name)) &&
      !Object.hasOwn(variables, known(name)) &&
      !(Object.hasOwn(defaults, known(name)) && value === ''),
  )
  const names = new Set(kept.map(([name]) => known(name)))
  const missing = Object.entries(defaults).filter(([name]) => !names.has(name))
  return Object.fromEntries([...missing, ...kept, ...Object.entries(variables)])
}

/**
 * Returns why a command may have sent no request to the service at `url`: a proxy that is not kept away from it, another
 * authority of Node.js, or the URL of another service.
 */
export function silenceWarning(url: string, environment: NodeJS.ProcessEnv = process.env): string {
  const { protocol, hostname } = new URL(url)
  const proxy = proxyIn(environment, protocol.replace(':', ''))
  const direct = `${environment.no_proxy ?? ''},${environment.NO_PROXY ?? ''}`.split(/[\s,]+/)
  if (proxy !== undefined && !direct.some((entry) => entry === '*' || isPartOf(entry, hostname)))
    return `${SILENT} ${proxy} is set, so it may have asked the proxy. Add ${hostname} to NO_PROXY.`
  if (protocol === 'https:' && (environment.NODE_EXTRA_CA_CERTS ?? '') !== '')
    return `${SILENT} NODE_EXTRA_CA_CERTS is set, so Node.js does not trust the service. Unset it, or add the certificate of TABWIRE_CACERT to its file.`
  return `${SILENT} Its base URL is in TABWIRE_BASE_URL, and the key in TABWIRE_API_KEY.`
}

const SILENT = 'CMD sent no request to the API.'

/** True for an entry of NO_PROXY such as `127.0.0.1`, `127.0.0.0/8` or `127.*`. */
function isPartOf(entry: string, hostname: string): boolean {
  return entry === hostname || (hostname.startsWith('127.') && entry.startsWith('127.'))
}

function signalGroup({ pid }: ChildProcess, signal: NodeJS.Signals): void {
  if (pid === undefined) return
  try {
    process.kill(-pid, signal)
  } catch {
    // No process of the group is left.
  }
}

/**
 * Resolves with the exit code of a command, 128 + n for signal n.
 * @throws CommandError when it could not be started.
 */
export function exitCodeOf(
  child: Pick<EventEmitter, 'on' | 'once'> & Pick<ChildProcess, 'pid'>,
  file: string,
): Promise<number> {
  return new Promise((resolve, reject) => {
    child.on('error', (error: NodeJS.ErrnoException) => {
      // On Windows, cmd.exe has started and does not find the command; cross-spawn then reports this instead of the exit. A
      // signal that may not be sent is an error, too; the command goes on.
      const isOfStart = child.pid === undefined || error.syscall?.startsWith('spawn') === true
      if (isOfStart) reject(failedToStart(file, error))
    })
    child.once('exit', (code: number | null, signal: NodeJS.Signals | null) =>
      resolve(signal === null ? (code ?? 1) : 128 + constants.signals[signal]),
    )
  })
}

function failedToStart(file: string, { code, message }: NodeJS.ErrnoException): CommandError {
  if (code === 'ENOENT' && basename(file) !== file && existsSync(file))
    return new CommandError(
      'command_not_executable',
      `${file} cannot be executed: its interpreter does not exist. Check the first line of a script, which must end with LF, not CR LF. A binary must be built for this system.`,
      NOT_EXECUTABLE,
    )
  if (code === 'ENOENT' || (code === 'EACCES' && !isInPath(file)))
    return new CommandError(
      'command_not_found',
      `Command not found: ${file}. ${adviceForMissing(file)}`,
      NOT_FOUND,
    )
  return new CommandError(
    'command_not_executable',
    `${file} cannot be executed: ${code ?? message}.`,
    NOT_EXECUTABLE,
  )
}

/** Advice for a command that does not exist. */
function adviceForMissing(file: string): string {
  if (/^\w+=/.test(file)) return 'To set a variable for the command, set it before tabwire.'
  return /\s/.test(file)
    ? 'Pass the command and its arguments as separate words, such as: tabwire exec -- npm test'
    : 'Check its name and your PATH. For commands of a Node.js project, put npx before the name.'
}

/** Returns false for a name that no folder of PATH has. A folder that this user may not read causes EACCES for every name. */
function isInPath(file: string): boolean {
  const folders = (process.env.PATH ?? '').split(delimiter)
  return basename(file) !== file || folders.some((folder) => existsSync(join(folder, file)))
}

/** Milliseconds between two rounds of the guests, and between two looks at delayed deliveries. */
const PACE = 50
const LOOK = 150

/** Guests who play while a command runs. */
export interface PlayedGuests {
  /**
   * Ends the play and the injected faults, and plays all retries that are due later, by moving the clock.
   * @throws what ended the play early.
   */
  settle(): Promise<GuestsReport>
}

/** The parts of a client that are called. */
type Calls = Pick<Client, 'guests' | 'deliveries' | 'clock' | 'faults'>

/**
 * Plays guests on every open check. Deliveries that a fault drops or holds are not awaited in real time: the clock moves
 * to their next attempt. Other retries keep their time, so that a receiver can restart meanwhile. `idle` resolves when
 * no delivery is due or in flight.
 */
export function playAlong(
  client: Calls,
  wanted: Pick<GuestsWanted, 'seed' | 'guests'>,
  idle: () => Promise<void>,
): PlayedGuests {
  const end = new AbortController()
  const playing = client.guests.play({ ...wanted, pace: PACE, untilPaid: false, signal: end.signal })
  const skipping = skipDelays(client, end.signal)
  // Both are awaited in settle.
  for (const one of [playing, skipping]) one.catch(() => end.abort())
  return {
    async settle() {
      end.abort()
      const [report] = await Promise.all([playing, skipping])
      await client.faults.clear()
      await idle()
      for (let next = await nextAttempt(client); next !== undefined; next = await nextAttempt(client)) {
        await moveAhead(client, next)
        await idle()
      }
      return report
    },
  }
}

/** Moves the clock to deliveries that a fault delays, once they have been seen twice: others may overtake them. */
async function skipDelays(client: Calls, signal: AbortSignal): Promise<void> {
  let seen = new Set<string>()
  while (!signal.aborted) {
    const delayed = (await pendingOf(client)).filter(isDelayed)
    const again = delayed.filter((delivery) => seen.has(markOf(delivery)))
    seen = new Set(delayed.map(markOf))
    const next = earliest(again)
    if (next !== undefined) await moveAhead(client, next)
    await sleep(LOOK, undefined, { signal }).catch(() => undefined)
  }
}

function isDelayed({ held, attempts }: Delivery): boolean {
  return held !== undefined || attempts.at(-1)?.outcome === 'dropped'
}

function markOf({ id, next_attempt_at }: Delivery): string {
  return `${id} ${next_attempt_at}`
}

/** Moves the clock to a time, unless it has passed it or the command has reset the state meanwhile. */
async function moveAhead({ clock }: Calls, time: string): Promise<void> {
  if (time <= (await clock.show()).now) return
  await clock.moveTo(time).catch((error: unknown) => {
    if (!(error instanceof ApiError) || (error.status !== 422 && error.code !== 'state_replaced')) throw error
  })
}

async function nextAttempt(client: Calls): Promise<string | undefined> {
  return earliest(await pendingOf(client))
}

function earliest(deliveries: readonly Delivery[]): string | undefined {
  return deliveries.flatMap(({ next_attempt_at }) => next_attempt_at ?? []).toSorted()[0]
}

async function pendingOf({ deliveries }: Calls): Promise<Delivery[]> {
  const pending: Delivery[] = []
  for await (const delivery of deliveries.all({ status: 'pending' })) pending.push(delivery)
  return pending
}
