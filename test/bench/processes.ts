import { spawn, type ChildProcessByStdio } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createInterface } from 'node:readline'
import type { Readable, Writable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import type { Load, LoadResult } from './load.ts'

/** A program under measurement, which prints its address first. */
export interface Program {
  url: string
  pid: number
  /** Writes a line and resolves with the line that is printed next. */
  ask<T>(line: string): Promise<T>
  /** Ends it by a signal. */
  end(signal?: NodeJS.Signals): Promise<void>
}

const here = (file: string) => fileURLToPath(new URL(file, import.meta.url))

export async function startProgram(args: readonly string[], cwd = process.cwd()): Promise<Program> {
  const child = spawn(process.execPath, args, {
    cwd,
    stdio: ['pipe', 'pipe', 'inherit'],
    env: cleanEnvironment(),
  })
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  const nextLine = async () => {
    const next = (await lines.next()) as IteratorResult<string, undefined>
    if (next.done) throw new Error(`${args.join(' ')} ended without a word.`)
    return JSON.parse(next.value) as Record<string, unknown>
  }
  const { url } = await nextLine()
  return {
    url: String(url),
    pid: child.pid ?? 0,
    async ask<T>(line: string) {
      child.stdin.write(`${line}\n`)
      return (await nextLine()) as T
    },
    end: (signal = 'SIGTERM') => end(child, signal),
  }
}

export const startBare = () => startProgram([here('./bare-server.js')])

export const startLeastDurable = (file: string) => startProgram([here('./least-durable-server.js'), file])

export const startReceiver = (certs: { cert: string; key: string }, mode: 'answer' | 'hang' | 'gate') =>
  startProgram([here('./receiver.js'), certs.cert, certs.key, mode])

export const startTabwire = (directory: string, ...flags: string[]) =>
  startProgram([
    'bin/run.js',
    'start',
    '--json',
    '--port',
    '0',
    '--api-key',
    API_KEY,
    '--data-dir',
    directory,
    ...flags,
  ])

export const API_KEY = 'bench-key'

/** Sends a load from a process of its own. */
export async function run(load: Partial<Load> & Pick<Load, 'url'>): Promise<LoadResult> {
  const whole: Load = { apiKey: API_KEY, checks: 1_000_000_000, first: 1, ...load }
  const result = await output([here('./load.js'), JSON.stringify(whole)])
  return JSON.parse(result.stdout) as LoadResult
}

/** Runs a program. Returns its output and its duration in milliseconds. @throws Error when its exit code is not 0. */
export async function output(args: readonly string[], input = '', cwd = process.cwd()) {
  const started = performance.now()
  const child = spawn(process.execPath, args, {
    cwd,
    stdio: ['pipe', 'pipe', 'inherit'],
    env: cleanEnvironment(),
  })
  child.stdin.end(input)
  let stdout = ''
  child.stdout.on('data', (chunk: Buffer) => (stdout += chunk.toString()))
  const [code] = (await once(child, 'close')) as [number | null]
  if (code !== 0) throw new Error(`${args.join(' ')} ended with ${code}.`)
  return { stdout, milliseconds: performance.now() - started }
}

/** Returns the resident memory of a process in MiB; `undefined` on systems that do not report it. */
export function residentMiB(pid: number): number | undefined {
  try {
    const kilobytes = /VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]
    return kilobytes === undefined ? undefined : Number(kilobytes) / 1024
  } catch {
    return undefined
  }
}

async function end(
  child: ChildProcessByStdio<Writable, Readable, null>,
  signal: NodeJS.Signals,
): Promise<void> {
  const closed = once(child, 'close')
  child.kill(signal)
  await closed
}

/** The environment without variables that change the measured program, or that make Node read this machine's certificates. */
export function cleanEnvironment(): NodeJS.ProcessEnv {
  return Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !/^TABWIRE_|^NODE_(ENV|EXTRA_CA_CERTS)$/.test(name)),
  )
}
