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
  kill(): Promise<void>
}

/** Runs a program beside the built store; it may import './store/file-store.js'. */
export function runChild(program: string, ...args: readonly string[]): Child {
  const child = spawn(process.execPath, ['--input-type=module', '-e', program, ...args], {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const ended = once(child, 'exit')
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  return {
    pid: child.pid ?? 0,
    line: async () => {
      const next = (await lines.next()) as IteratorResult<string, undefined>
      return next.value
    },
    async kill() {
      child.kill('SIGKILL')
      await ended
    },
  }
}
