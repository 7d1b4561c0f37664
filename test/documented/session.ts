import { watch } from 'node:fs'
import { chmod, mkdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { connect } from 'node:net'
import { delimiter, dirname, join } from 'node:path'
import { expect } from 'vitest'
import {
  emptyDirectory,
  serve,
  spawnProcess,
  tabwire,
  type Ended,
  type Running,
  type RunningService,
} from '../support/cli.ts'
import { prepareDataDirectory } from '../../src/cli/trust/made-here.ts'
import { DEFAULT_DATA_DIRECTORY } from '../../src/data-directory.ts'
import { root } from '../support/packed.ts'
import { freePort } from '../support/http-server.ts'

/** Ports that documents print; each stands for a free one. */
const PRINTED_PORTS = ['3000', '4100', '8443']

/**
 * `tabwire` on the PATH. A command that ends by itself runs in a process that has loaded the program; the others, and those
 * that pass on signals and standard streams, run as users run them.
 */
const shim = `#!/bin/sh
case "\${1-}" in start | listen | tail | exec | demo) exec "${process.execPath}" "${root}bin/run.js" "$@" ;; esac
call=$(mktemp -d "$DOCUMENTED/call.XXXXXX")
mkfifo "$call/code"
: >"$call/args"
[ $# -eq 0 ] || printf '%s\\0' "$@" >"$call/args"
env | grep '^TABWIRE_\\|_API_KEY=' >"$call/env"
pwd >"$call/cwd"
cat >"$call/input"
mv "$call" "$DOCUMENTED/calls/"
call="$DOCUMENTED/calls/\${call##*/}"
read -r code <"$call/code"
cat "$call/stdout"
cat "$call/stderr" >&2
exit "$code"
`

/** A reader's folder and terminals, while a document is followed. */
export interface Session {
  cwd: string
  /** Replaces the ports that the document prints. */
  translate(text: string): string
  /** Writes a file that the document tells readers to save. */
  save(name: string, text: string): Promise<void>
  /** Runs a block to its end. */
  run(shell: string, text: string): Promise<Ended>
  /** Starts a block that goes on, and waits until it is ready. */
  start(text: string): Promise<void>
  /** Returns the output of the last block, and of all that go on. */
  output(): string
  /** Returns true while a block goes on, so that the output may grow. */
  goesOn(): boolean
  close(): Promise<void>
}

/** Opens a session, with a service unless the document starts it itself. */
export async function openSession(options: { startsItself: boolean }): Promise<Session> {
  const cwd = await emptyDirectory()
  const ports = new Map(
    await Promise.all(PRINTED_PORTS.map(async (port) => [port, String(await freePort())] as const)),
  )
  const service = options.startsItself ? undefined : await serviceIn(cwd, ports.get('4100'))
  const calls = await answerCalls()
  const env = environmentOf(cwd, calls.directory, service)
  await project(cwd, service?.key)
  const receiver = createServer((request, response) => {
    request.resume().on('end', () => response.writeHead(204).end())
  }).listen(Number(ports.get('3000')), 'localhost')
  const background: Running[] = []
  const texts: { stdout: string; stderr: string }[] = []
  let last = ''
  const translate = (text: string) =>
    text
      .replaceAll('https://api.staging.example.com', 'http://localhost:4100')
      .replace(/(?<=(?:localhost|127\.0\.0\.1):|listen\()\d{4}\b/g, (port) => ports.get(port) ?? port)

  return {
    cwd,
    translate,
    async save(name, text) {
      await mkdir(dirname(join(cwd, name)), { recursive: true })
      await writeFile(join(cwd, name), translate(text))
    },
    async run(shell, text) {
      const file = join(calls.directory, 'block')
      await writeFile(file, translate(text))
      const flags = shell === 'fish' ? [] : ['-e']
      const ended = await (await spawnProcess(shell, [...flags, file], { cwd, env })).ended
      last = `${ended.stdout}\n${ended.stderr}`
      return ended
    },
    async start(text) {
      // A service beside the one of this document has a folder of its own.
      const isBeside = service !== undefined && text.startsWith('tabwire start')
      const [file = '', ...args] = translate(text).trim().split(' ')
      const variables =
        file === 'tabwire' && args[0] === 'start' ? { TABWIRE_PORT: ports.get('4100') ?? '0' } : {}
      const place = { cwd: isBeside ? await emptyDirectory() : cwd, env: { ...env, ...variables } }
      const running = await spawnProcess(file, args, place)
      background.push(running)
      const written = { stdout: '', stderr: '' }
      texts.push(written)
      for (const name of ['stdout', 'stderr'] as const)
        running.child[name]?.on('data', (chunk: string) => (written[name] += chunk))
      if (file === 'node') await expect.poll(() => listens(ports.get('8443')), { timeout: 30_000 }).toBe(true)
      else await running.until('stderr', /Tabwire is ready\.|Listening/)
    },
    output: () => [last, ...texts.flatMap(({ stdout, stderr }) => [stdout, stderr])].join('\n'),
    goesOn: () => background.length > 0,
    async close() {
      for (const { child } of background.toReversed()) child.kill('SIGTERM')
      await Promise.all(background.map(({ ended }) => ended))
      receiver.close()
      receiver.closeAllConnections()
      calls.close()
      await service?.stop()
    },
  }
}

function environmentOf(
  cwd: string,
  directory: string,
  service: RunningService | undefined,
): Record<string, string> {
  return {
    PATH: `${directory}${delimiter}${process.env.PATH ?? ''}`,
    HOME: cwd,
    DOCUMENTED: directory,
    ...(service !== undefined && { BASE_URL: `${service.url}/v1` }),
  }
}

/** Makes the folder a project that has Tabwire among its packages. */
async function project(cwd: string, key: string | undefined): Promise<void> {
  await mkdir(join(cwd, 'node_modules'))
  await symlink(root, join(cwd, 'node_modules', 'tabwire'), 'dir')
  for (const folder of ['.config/fish/completions', 'ci']) await mkdir(join(cwd, folder), { recursive: true })
  if (key === undefined) return
  await writeFile(join(cwd, 'api.key'), `${key}\n`, { mode: 0o600 })
}

/** Starts a service as `tabwire start` does in a folder, on the port that stands for the default. */
async function serviceIn(cwd: string, port: string | undefined): Promise<RunningService> {
  const dataDir = join(cwd, DEFAULT_DATA_DIRECTORY)
  await prepareDataDirectory(dataDir)
  return serve({ cwd, dataDir, port: Number(port) })
}

/** Runs the commands that the shim hands over. */
async function answerCalls(): Promise<{ directory: string; close(): void }> {
  const directory = await emptyDirectory()
  await writeFile(join(directory, 'tabwire'), shim)
  await chmod(join(directory, 'tabwire'), 0o755)
  const queue = join(directory, 'calls')
  await mkdir(queue)
  const seen = new Set<string>()
  // A call is moved here when it is complete, and stays.
  const watcher = watch(queue, (_event, name) => {
    if (name?.startsWith('call.') !== true || seen.has(name)) return
    seen.add(name)
    void answer(join(queue, name))
  })
  return { directory, close: () => watcher.close() }
}

async function answer(call: string): Promise<void> {
  const read = (name: string) => readFile(join(call, name), 'utf8')
  const [args, variables, cwd, input] = await Promise.all([
    read('args'),
    read('env'),
    read('cwd'),
    readFile(join(call, 'input')),
  ])
  const env = Object.fromEntries(
    variables.split('\n').flatMap((line) => {
      const at = line.indexOf('=')
      return at < 0 ? [] : [[line.slice(0, at), line.slice(at + 1)]]
    }),
  ) as Record<string, string>
  const { stdout, stderr, code } = await tabwire(args.split('\0').slice(0, -1), {
    cwd: cwd.trimEnd(),
    env,
    input,
  })
  await Promise.all([writeFile(join(call, 'stdout'), stdout), writeFile(join(call, 'stderr'), stderr)])
  await writeFile(join(call, 'code'), `${code}\n`)
}

/** Returns whether something listens at a port. */
function listens(port: string | undefined): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(Number(port), 'localhost')
    socket
      .on('error', () => resolve(false))
      .on('connect', () => {
        socket.destroy()
        resolve(true)
      })
  })
}
