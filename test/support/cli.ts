import { spawn, type ChildProcess, type ChildProcessWithoutNullStreams } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { atEnd } from './at-end.ts'
import { hear } from './judged-answers.ts'
import { runWarm, startWarm } from './warm.ts'
import { DEFAULT_DATA_DIRECTORY, removeRun, writeRun } from '../../src/data-directory.ts'
import { startSimulator, type SimulatorOptions } from '../../src/simulator.ts'
import { isSoak } from '../soak/seeded.ts'

/** The compiled command in a separate process, as users run it. `npm run build` builds it. */
export const bin = fileURLToPath(new URL('../../bin/run.js', import.meta.url))
const forwarder = new URL('./forward-answers.mjs', import.meta.url).href
export const fixtures = fileURLToPath(new URL('../../fixtures/', import.meta.url))

export interface RunOptions {
  /** The working directory; a fresh, empty one by default. */
  cwd?: string
  env?: Record<string, string>
  /** Text for standard input, which is closed in any case. */
  input?: string | Uint8Array
  /** Leaves standard input open, for more to come. */
  keepInput?: boolean
  /** Runs the command in a new process: for tests of how processes begin and end. */
  isNewProcess?: boolean
}

/** How a process ended, and all that it wrote. */
export interface Ended {
  code: number | null
  signal: NodeJS.Signals | null
  stdout: string
  stderr: string
}

/** A process under way. */
export interface Running {
  child: ChildProcess
  ended: Promise<Ended>
  /** Resolves once the stream's text matches, with all of the text; rejects when the process ends before it does. */
  until(stream: 'stdout' | 'stderr', pattern: RegExp): Promise<string>
}

const children = new Set<Running>()
const services = new Set<() => Promise<void>>()
const directories: string[] = []

// Nothing of a test file outlives it, whatever failed.
atEnd(async () => {
  for (const { child } of children) {
    child.kill('SIGKILL')
    // Its own children may live on and keep the pipes open.
    child.stdout?.destroy()
    child.stderr?.destroy()
  }
  await Promise.all([...services].map((stop) => stop()))
  await Promise.all([...children].map(({ ended }) => ended))
  await Promise.all(
    directories.splice(0).map((directory) => rm(directory, { recursive: true, force: true, maxRetries: 5 })),
  )
})

/** An empty directory that is removed after the tests of this file. */
export async function emptyDirectory(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'tabwire-cli-'))
  directories.push(directory)
  return directory
}

/** Runs `tabwire` to its end, which has to come by itself: `start` is run so where it refuses to. */
export async function tabwire(args: readonly string[], options: RunOptions = {}): Promise<Ended> {
  const cwd = options.cwd ?? (await emptyDirectory())
  const { env = {}, input } = options
  if (!isReadByCommands(env) || args[0] === 'demo')
    return (await spawnTabwire(args, { ...options, cwd })).ended
  const stdin = input === undefined ? '' : Buffer.from(input).toString('base64')
  return runWarm({ args, cwd, env, stdin }, cleanEnvironment())
}

/** Whether commands read these variables. A process takes the others from its start. */
function isReadByCommands(env: object): boolean {
  return Object.keys(env).every((name) => /^(TABWIRE_|POS_|LANG$|LC_)|_KEY$/.test(name))
}

/** Commands that close all that they have opened, so that others can run in their process. The soak uses new ones. */
const lasting = new Set(['deliveries', 'exec', 'listen', 'replay', 'start', 'tail'])

/** Runs `tabwire` and hands it over while it runs. */
export async function spawnTabwire(args: readonly string[], options: RunOptions = {}): Promise<Running> {
  const { env = {}, isNewProcess = false, keepInput = false, input = '' } = options
  const isOwn = isSoak || isNewProcess || keepInput || input !== '' || !isReadByCommands(env)
  if (lasting.has(args[0] ?? '') && !isOwn) {
    const cwd = options.cwd ?? (await emptyDirectory())
    return tracked(startWarm({ args, cwd, env, stdin: '' }, cleanEnvironment()))
  }
  const running = await spawnProcess(process.execPath, ['--import', forwarder, bin, ...args], options, [
    'ipc',
  ])
  running.child.on('message', hear)
  return running
}

/** Runs any program, with an environment that knows nothing of this test run. */
export async function spawnProcess(
  file: string,
  args: readonly string[],
  options: RunOptions,
  more: readonly 'ipc'[] = [],
): Promise<Running> {
  const { env = {}, input, keepInput = false } = options
  const cwd = options.cwd ?? (await emptyDirectory())
  const child = spawn(file, args, {
    cwd,
    env: { ...cleanEnvironment(), ...env },
    stdio: ['pipe', 'pipe', 'pipe', ...more],
  }) as ChildProcessWithoutNullStreams
  const texts = { stdout: '', stderr: '' }
  for (const name of ['stdout', 'stderr'] as const) {
    child[name].setEncoding('utf8')
    child[name].on('data', (text: string) => (texts[name] += text))
  }
  const ended = new Promise<Ended>((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code, signal) => resolve({ code, signal, ...texts }))
  })
  // A child that needs no input may be gone before it has taken any.
  child.stdin.on('error', () => undefined)
  if (!keepInput) child.stdin.end(input)
  const running: Running = {
    child,
    ended,
    until: (name, pattern) =>
      new Promise((resolve, reject) => {
        const look = () => {
          if (pattern.test(texts[name])) resolve(texts[name])
        }
        child[name].on('data', look)
        look()
        const tooLate = () =>
          reject(new Error(`It ended before ${pattern}:\n${texts.stdout}\n${texts.stderr}`))
        ended.then(tooLate, reject)
      }),
  }
  return tracked(running)
}

function tracked(running: Running): Running {
  children.add(running)
  void running.ended.catch(() => undefined).finally(() => children.delete(running))
  return running
}

const ofThisRun =
  /^(CI|NODE_ENV|NODE_OPTIONS|NODE_V8_COVERAGE|VITEST.*|TEST|TABWIRE_.*|DEBUG|FORCE_COLOR|NO_COLOR|PORT|HOST|(HTTPS?|ALL|NO)_PROXY|(https?|all|no)_proxy)$/

/** The environment without what belongs to this test run. */
export function cleanEnvironment(): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !ofThisRun.test(name)))
}

/** A service on a free port, and the directory in which commands find it. */
export interface RunningService {
  url: string
  key: string
  cwd: string
  /** Runs another command where it finds this service. */
  run(args: readonly string[], options?: RunOptions): Promise<Ended>
  /** The same with `--json`: what was printed, parsed. Fails when the command did. */
  json<T>(...args: string[]): Promise<T>
  /** Calls the API over HTTP; `path` begins with `/v1` or `/_sim`. */
  call(method: string, path: string, body?: unknown): Promise<Response>
  stop(): Promise<unknown>
}

/** One that `tabwire start` runs. */
export interface ServiceProcess extends RunningService {
  process: Running
  /** Ends it, and tells how it ended. */
  stop(signal?: NodeJS.Signals): Promise<Ended>
}

/** Starts `tabwire start --json --port 0 …` and waits until it is ready. */
export async function startService(
  args: readonly string[] = [],
  options: RunOptions = {},
): Promise<ServiceProcess> {
  const cwd = options.cwd ?? (await emptyDirectory())
  const running = await spawnTabwire(['start', '--json', '--port', '0', ...args], { ...options, cwd })
  const [line = ''] = (await running.until('stdout', /\n/)).split('\n')
  const { url, api_key: key } = JSON.parse(line) as { url: string; api_key: string }
  return {
    ...callers({ url, key, cwd }),
    process: running,
    stop(signal = 'SIGTERM') {
      running.child.kill(signal)
      return running.ended
    },
  }
}

/** Starts a service in memory in the process of the test, which is faster than a process of its own. */
export async function serve(options: SimulatorOptions & { cwd?: string } = {}): Promise<RunningService> {
  const { cwd = await emptyDirectory(), ...wanted } = options
  const directory = join(cwd, DEFAULT_DATA_DIRECTORY)
  const simulator = await startSimulator({ port: 0, authorityDirectory: directory, ...wanted })
  const { url, apiKey: key } = simulator
  const run = { url, pid: process.pid, started_at: new Date().toISOString(), api_key: key }
  await writeRun(directory, run)
  const stop = async () => {
    services.delete(stop)
    await simulator.close()
    await removeRun(directory, process.pid)
  }
  services.add(stop)
  return { ...callers({ url, key, cwd }), stop }
}

function callers({ url, key, cwd }: Pick<RunningService, 'url' | 'key' | 'cwd'>) {
  const run = (args: readonly string[], options: RunOptions = {}) => tabwire(args, { cwd, ...options })
  return {
    url,
    key,
    cwd,
    run,
    async json<T>(...args: string[]) {
      const { code, stdout, stderr } = await run([...args, '--json'])
      if (code !== 0) throw new Error(`tabwire ${args.join(' ')} ended with ${code}:\n${stdout}\n${stderr}`)
      return JSON.parse(stdout) as T
    },
    call: (method: string, path: string, body?: unknown) =>
      fetch(url + path, {
        method,
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        body: body === undefined ? null : JSON.stringify(body),
      }),
  }
}

/** A check to push; `status`, `items` and so on as a test wants them. */
export function checkBody(changes: Record<string, unknown> = {}) {
  return {
    table: { number: '12' },
    status: 'open',
    items: [
      { external_id: 'line-1', name: 'Copper Burger', quantity: 2, price_cents: 1450 },
      { external_id: 'line-2', name: 'Plum Tart', quantity: 1, price_cents: 780, note: 'with cream' },
    ],
    totals: { subtotal_cents: 3680, tax_cents: 322, total_cents: 4002 },
    ...changes,
  }
}
