import { execFile, spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { chownSync, existsSync, readdirSync } from 'node:fs'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)

/** Directory of the programs of the newest PostgreSQL server here; `undefined` when there is none. */
export const postgresPrograms = newestPrograms()

function newestPrograms(): string | undefined {
  const versions = '/usr/lib/postgresql'
  if (!existsSync(versions)) return undefined
  const found = readdirSync(versions)
    .map((version) => join(versions, version, 'bin'))
    .filter((programs) => existsSync(join(programs, 'initdb')))
  return found.sort().at(-1)
}

/** A PostgreSQL server of the tests' own, in a temporary directory. It listens on a socket only. */
export interface Cluster {
  /** URL for `--store`. */
  url: string
  /** Directory of the socket. */
  directory: string
  /** Ends the server at once, as after a loss of power without loss of files. Resolves when it is gone. */
  kill(): Promise<void>
  /** Starts a killed server again, on the same data. Resolves when it accepts connections. */
  restart(): Promise<void>
  /** Process id of the server. */
  pid(): number
  /** Ends the server and removes its files. */
  stop(): Promise<void>
}

/** A database of a test file's own, on a server that others may use at the same time. */
export type Database = Pick<Cluster, 'url' | 'directory' | 'stop'>

/** Directory of the socket of the server that `postgres-setup.ts` starts for a whole run. */
export const SERVER_OF_RUN = 'TABWIRE_TEST_POSTGRES'

/** Returns an empty database on the server of this run, or on a new server. Callers must `stop` it. */
export async function openTestDatabase(): Promise<Database> {
  const directory = process.env[SERVER_OF_RUN]
  const programs = postgresPrograms
  if (directory === undefined || programs === undefined) return startCluster()
  const name = `test_${process.pid}_${++databases}`
  const connection = ['-h', directory, '-U', 'tabwire', '--maintenance-db', 'postgres']
  await run(join(programs, 'createdb'), [...connection, '--template', 'template0', name])
  return {
    url: urlOf(directory, name),
    directory,
    async stop() {
      await run(join(programs, 'dropdb'), [...connection, '--force', name])
    },
  }
}

let databases = 0

/** Returns the URL of a database at the server whose socket is in a directory. */
export function urlOf(directory: string, database: string): string {
  return `postgres://tabwire@localhost/${database}?host=${encodeURIComponent(directory)}`
}

/** Starts a server. Callers must `stop` it. Settings are those of `postgres -c`. */
export async function startCluster(settings: Readonly<Record<string, string>> = {}): Promise<Cluster> {
  if (postgresPrograms === undefined) throw new Error('There is no PostgreSQL server on this machine.')
  const programs = postgresPrograms
  const directory = await mkdtemp(join(tmpdir(), 'tabwire-pg-'))
  const owner = await ownerOf(directory)
  const data = join(directory, 'data')
  const initdb = ['-D', data, '-U', 'tabwire', '-A', 'trust', '-E', 'UTF8', '--locale', 'C', '--no-sync']
  await run(join(programs, 'initdb'), initdb, { ...owner, cwd: directory })
  const chosen = { listen_addresses: '', fsync: 'off', max_connections: '60', ...settings }
  let server: ChildProcess
  const start = async () => {
    const options = Object.entries(chosen).flatMap(([name, value]) => ['-c', `${name}=${value}`])
    server = spawn(join(programs, 'postgres'), ['-D', data, '-k', directory, ...options], {
      ...owner,
      cwd: directory,
      stdio: 'ignore',
    })
    await accepting(join(programs, 'pg_isready'), directory, server)
  }
  const end = async (signal: NodeJS.Signals) => {
    if (server.exitCode !== null || server.signalCode !== null) return
    const exited = once(server, 'exit')
    server.kill(signal)
    await exited
  }
  await start()
  return {
    url: urlOf(directory, 'postgres'),
    directory,
    kill: async () => {
      await end('SIGKILL')
      await rm(join(data, 'postmaster.pid'), { force: true })
    },
    restart: start,
    pid: () => server.pid ?? 0,
    async stop() {
      await end('SIGQUIT')
      await rm(directory, { recursive: true, force: true, maxRetries: 5 })
    },
  }
}

/** The server refuses to run as root; then it runs as the user `postgres`. */
async function ownerOf(directory: string): Promise<{ uid?: number; gid?: number }> {
  if (process.getuid?.() !== 0) return {}
  const line = (await readFile('/etc/passwd', 'utf8'))
    .split('\n')
    .find((user) => user.startsWith('postgres:'))
  const [uid, gid] = (line?.split(':').slice(2, 4) ?? []).map(Number)
  if (uid === undefined || gid === undefined) throw new Error('There is no user postgres on this machine.')
  chownSync(directory, uid, gid)
  return { uid, gid }
}

async function accepting(program: string, directory: string, server: ChildProcess): Promise<void> {
  while (server.exitCode === null) {
    const ready = await run(program, ['-h', directory, '-t', '5']).then(
      () => true,
      () => false,
    )
    if (ready) return
  }
  throw new Error(`The PostgreSQL server ended with ${server.exitCode}.`)
}
