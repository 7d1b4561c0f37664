import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

/** The store as it was built: Node 20 reads no TypeScript. */
const folder = fileURLToPath(new URL('../../dist', import.meta.url))

export interface Child {
  pid: number
  /** The next line that it printed; `undefined` when it has ended. */
  line(): Promise<string | undefined>
  /** Writes a line to its standard input. */
  tell(line: string): void
  kill(): Promise<void>
}

const children = new Set<Child>()

/** Kills the programs that a failed test has left. */
export async function killChildren(): Promise<void> {
  await Promise.all([...children].map((child) => child.kill()))
}

/** Runs a program beside the built store; it may import './store/file-store.js'. */
export function runChild(program: string, ...args: readonly string[]): Child {
  return runChildWithin([], program, ...args)
}

/** The same as the last argument of another command, which starts it and is killed with it. */
export function runChildWithin(
  command: readonly string[],
  program: string,
  ...args: readonly string[]
): Child {
  const [file = '', ...rest] = [...command, process.execPath, '--input-type=module', '-e', program, ...args]
  const child = spawn(file, rest, {
    cwd: folder,
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  // Of a child of the child as well, which has the same standard output.
  const ended = once(child, 'close')
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  const running: Child = {
    pid: child.pid ?? 0,
    line: async () => {
      const next = (await lines.next()) as IteratorResult<string, undefined>
      return next.value
    },
    tell: (line) => void child.stdin.write(`${line}\n`),
    async kill() {
      child.kill('SIGKILL')
      await ended
    },
  }
  children.add(running)
  void ended.finally(() => children.delete(running))
  return running
}
