import { fork, type ChildProcess } from 'node:child_process'
import { clearTimeout, setTimeout } from 'node:timers'
import { fileURLToPath } from 'node:url'
import type { Ended, Running } from './cli.ts'
import { hear } from './judged-answers.ts'

const program = fileURLToPath(new URL('./warm.mjs', import.meta.url))
const MARK = '\u0000end of the command\u0000'
const idle: ChildProcess[] = []

/** Commands of concurrent tests take turns in so many processes: starting another takes as long as several commands. */
const MOST_AT_ONCE = 2
/** A command that waits for another one must not keep it from running. */
const LONGEST_WAIT_MS = 4_000
let under = 0
const waiting = new Set<() => void>()

/** A command with what is ours of its environment. */
interface Command {
  args: readonly string[]
  cwd: string
  env: Readonly<Record<string, string>>
  /** Standard input, in base64. */
  stdin: string
}

/**
 * Runs a command in a process that has run other commands before. The result is the same, and loading the command again
 * takes ten times as long as running it. Only for commands that end by themselves. The processes end with their parent.
 */
export async function runWarm(command: Command, environment: NodeJS.ProcessEnv): Promise<Ended> {
  if (under >= MOST_AT_ONCE) await turn()
  under += 1
  try {
    const child = idle.pop() ?? warmUp(environment)
    const [stdout, stderr, code] = await Promise.all([
      textOf(child, 'stdout'),
      textOf(child, 'stderr'),
      codeOf(child),
      new Promise((resolve) => child.send({ ...command, mark: MARK }, resolve)),
    ])
    idle.push(child)
    return { code, signal: null, stdout, stderr }
  } finally {
    under -= 1
    const [next] = waiting
    next?.()
  }
}

/** Resolves when a command has ended, or after the longest wait. */
async function turn(): Promise<void> {
  await new Promise<void>((resolve) => {
    const go = () => {
      clearTimeout(timer)
      waiting.delete(go)
      resolve()
    }
    const timer = setTimeout(go, LONGEST_WAIT_MS)
    waiting.add(go)
  })
}

/**
 * Starts a command in a process that has run other commands before, and hands it over while it runs. It ends when it has
 * closed all that would keep a process of its own alive. A command that exits, and each signal that it does not handle, end
 * the process.
 */
export function startWarm(command: Command, environment: NodeJS.ProcessEnv): Running {
  const child = idle.pop() ?? warmUp(environment)
  const texts = { stdout: '', stderr: '' }
  const looks = new Set<() => void>()
  let isOver = false
  const ended = new Promise<Ended>((resolve, reject) => {
    let code: number | undefined
    const listeners = (['stdout', 'stderr'] as const).map((name) => (text: string) => {
      texts[name] += text
      for (const look of looks) look()
      finish()
    })
    const end = (result: Pick<Ended, 'code' | 'signal'>) => {
      isOver = true
      child.off('message', take).off('close', close).off('error', reject)
      child.stdout?.off('data', listeners[0] ?? finish)
      child.stderr?.off('data', listeners[1] ?? finish)
      resolve({ ...result, stdout: withoutMark(texts.stdout), stderr: withoutMark(texts.stderr) })
    }
    const finish = () => {
      if (code === undefined || !texts.stdout.endsWith(MARK) || !texts.stderr.endsWith(MARK)) return
      end({ code, signal: null })
      idle.push(child)
    }
    const take = (message: object) => {
      if (!('code' in message)) return
      code = message.code as number
      finish()
    }
    const close = (exitCode: number | null, signal: NodeJS.Signals | null) => end({ code: exitCode, signal })
    child.on('message', take).on('close', close).on('error', reject)
    child.stdout?.setEncoding('utf8').on('data', listeners[0] ?? finish)
    child.stderr?.setEncoding('utf8').on('data', listeners[1] ?? finish)
  })
  child.send({ ...command, isLasting: true, mark: MARK })
  return {
    child: whileRunning(child, () => isOver),
    ended,
    until: (name, pattern) =>
      new Promise((resolve, reject) => {
        const look = () => {
          if (!pattern.test(texts[name])) return
          looks.delete(look)
          resolve(texts[name])
        }
        looks.add(look)
        look()
        const tooLate = () =>
          reject(new Error(`It ended before ${pattern}:\n${texts.stdout}\n${texts.stderr}`))
        ended.then(tooLate, reject)
      }),
  }
}

/** The process, which gets no signal once the command is over: another command may run in it. */
function whileRunning(child: ChildProcess, isOver: () => boolean): ChildProcess {
  return new Proxy(child, {
    get(target, name) {
      if (name === 'kill' && isOver()) return () => false
      const value: unknown = Reflect.get(target, name, target)
      return typeof value === 'function' ? (value.bind(target) as unknown) : value
    },
  })
}

function withoutMark(text: string): string {
  return text.endsWith(MARK) ? text.slice(0, -MARK.length) : text
}

function warmUp(env: NodeJS.ProcessEnv): ChildProcess {
  const child = fork(program, { env, execArgv: [], stdio: ['ignore', 'pipe', 'pipe', 'ipc'] }).on(
    'message',
    hear,
  )
  // Nothing is to wait for it.
  child.unref()
  child.channel?.unref()
  return child
}

/** How the command ended, once it has; before that, its services may have answered. */
function codeOf(child: ChildProcess): Promise<number> {
  return new Promise((resolve) => {
    const take = (message: object) => {
      if (!('code' in message)) return
      child.off('message', take)
      resolve(message.code as number)
    }
    child.on('message', take)
  })
}

/** Output of a command, up to the mark after it. */
function textOf(child: ChildProcess, name: 'stdout' | 'stderr'): Promise<string> {
  const stream = child[name]
  return new Promise((resolve, reject) => {
    if (stream === null) return reject(new Error(`There is no ${name}.`))
    let text = ''
    stream.setEncoding('utf8')
    const take = (chunk: string) => {
      text += chunk
      if (!text.endsWith(MARK)) return
      stream.off('data', take)
      child.off('close', broken)
      resolve(text.slice(0, -MARK.length))
    }
    const broken = () => reject(new Error(`The process ended in the midst of a command:\n${text}`))
    stream.on('data', take)
    child.once('close', broken)
  })
}
