import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import ts from 'typescript'

const compilerOptions = {
  module: ts.ModuleKind.ESNext,
  target: ts.ScriptTarget.ES2023,
  rewriteRelativeImportExtensions: true,
}

/** The store as JavaScript, for a process of its own: Node 20 reads no TypeScript. */
export async function buildStore(): Promise<{ folder: string; remove: () => Promise<void> }> {
  const folder = await mkdtemp(join(tmpdir(), 'tabwire-child-'))
  await symlink(resolve('node_modules'), join(folder, 'node_modules'), 'junction')
  await writeFile(join(folder, 'package.json'), '{"type":"module"}')
  for (const room of ['model', 'store']) await buildRoom(room, folder)
  await buildFile('process-identity.ts', folder)
  return { folder, remove: () => rm(folder, { recursive: true }) }
}

async function buildRoom(room: string, folder: string): Promise<void> {
  for (const name of await readdir(join('src', room), { recursive: true })) {
    if (name.endsWith('.ts')) await buildFile(join(room, name), folder)
  }
}

async function buildFile(name: string, folder: string): Promise<void> {
  const source = await readFile(join('src', name), 'utf8')
  const { outputText } = ts.transpileModule(source, { compilerOptions, fileName: name })
  const target = join(folder, name.replace(/\.ts$/, '.js'))
  await mkdir(dirname(target), { recursive: true })
  await writeFile(target, outputText)
}

export interface Child {
  pid: number
  /** The next line that it printed; `undefined` when it has ended. */
  line(): Promise<string | undefined>
  kill(): Promise<void>
}

/** Runs a program beside the built store; it may import './store/file-store.js'. */
export function runChild(folder: string, program: string, ...args: readonly string[]): Child {
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
