import { fork, type ChildProcess } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import type { Ended } from './cli.ts'
import { hear } from './judged-answers.ts'

const program = fileURLToPath(new URL('./warm.mjs', import.meta.url))
const MARK = '\u0000end of the command\u0000'
const idle: ChildProcess[] = []

/** A command with what is ours of its environment. */
interface Command {
  args: readonly string[]
  cwd: string
  env: Readonly<Record<string, string>>
  /** What comes on standard input, in base64. */
  stdin: string
}

/**
 * Runs a command in a process that has run other commands before. The result is the same, and loading the command again
 * takes ten times as long as running it. Only for commands that end by themselves. The processes end with their parent.
 */
export async function runWarm(command: Command, environment: NodeJS.ProcessEnv): Promise<Ended> {
  const child = idle.pop() ?? warmUp(environment)
  const [stdout, stderr, code] = await Promise.all([
    textOf(child, 'stdout'),
    textOf(child, 'stderr'),
    codeOf(child),
    new Promise((resolve) => child.send({ ...command, mark: MARK }, resolve)),
  ])
  idle.push(child)
  return { code, signal: null, stdout, stderr }
}

function warmUp(env: NodeJS.ProcessEnv): ChildProcess {
  const child = fork(program, { env, stdio: ['ignore', 'pipe', 'pipe', 'ipc'] }).on('message', hear)
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
