import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { Ended } from './cli.ts'
import { hear } from './judged-answers.ts'

const program = fileURLToPath(new URL('./warm.mjs', import.meta.url))
const MARK = '\u0000end of the command\u0000'
const idle: ChildProcess[] = []

/**
 * Runs a command in a process that has run others before: what a command does is the same, and loading it anew takes ten
 * times as long as doing it. For commands that end by themselves and read no standard input.
 */
export async function runWarm(args: readonly string[], cwd: string, env: NodeJS.ProcessEnv): Promise<Ended> {
  const child =
    idle.pop() ?? fork(program, { env, stdio: ['ignore', 'pipe', 'pipe', 'ipc'] }).on('message', hear)
  const [stdout, stderr, code] = await Promise.all([
    textOf(child, 'stdout'),
    textOf(child, 'stderr'),
    codeOf(child),
    new Promise((resolve) => child.send({ args, cwd, mark: MARK }, resolve)),
  ])
  idle.push(child)
  return { code, signal: null, stdout, stderr }
}

/** Ends the processes that wait for commands. */
export async function endWarm(): Promise<void> {
  const ended = idle.splice(0).map((child) => {
    child.kill('SIGKILL')
    return once(child, 'close')
  })
  await Promise.all(ended)
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

/** What a command has written, up to the mark behind it. */
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
