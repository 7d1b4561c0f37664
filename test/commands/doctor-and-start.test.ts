import { chmod, mkdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { createServer, type AddressInfo } from 'node:net'
import { join } from 'node:path'
import { networkInterfaces } from 'node:os'
import { describe, expect, onTestFinished, test } from 'vitest'
import { openAuthority } from '../../src/certificates/authority.ts'
import { startSimulator } from '../../src/simulator.ts'
import {
  checkBody,
  emptyDirectory,
  spawnTabwire,
  startService,
  tabwire,
  type RunOptions,
} from '../support/cli.ts'
import { sampled } from '../soak/seeded.ts'

/** Result of a start: it runs, says that the service runs already, or is refused. */
type Outcome = 'starts' | 'runs already' | 'refused'

interface Situation {
  args?: readonly string[]
  env?: Record<string, string>
  /** Where both run; by default the directory that was prepared. */
  cwd?: string
}

/** Prepares an empty directory. Returns flags and environment for both commands, if there are any. */
type Prepare = (cwd: string) => unknown

async function situationOf(prepare: Prepare, cwd: string): Promise<Situation> {
  const made = await prepare(cwd)
  return typeof made === 'object' && made !== null ? made : {}
}

const file =
  (name: string, content: string | object): Prepare =>
  async (cwd) => {
    const path = join(cwd, name)
    await mkdir(join(path, '..'), { recursive: true })
    await writeFile(path, typeof content === 'string' ? content : JSON.stringify(content))
  }
const folder =
  (name: string): Prepare =>
  (cwd) =>
    mkdir(join(cwd, name), { recursive: true }).then(() => undefined)
const flags =
  (...args: string[]): Prepare =>
  () => ({ args })
const both =
  (...all: Prepare[]): Prepare =>
  async (cwd) => {
    const found = []
    for (const prepare of all) found.push(await situationOf(prepare, cwd))
    return Object.assign({}, ...found) as Situation
  }

/** A port of 127.0.0.1 at which another program listens until the test ends. */
async function takenPort(): Promise<string> {
  const server = createServer((socket) => socket.destroy()).listen(0, '127.0.0.1')
  onTestFinished(() => void server.close())
  await new Promise((resolve) => server.once('listening', resolve))
  return String((server.address() as AddressInfo).port)
}

async function service(cwd: string, ...args: string[]): Promise<string> {
  const { url, stop } = await startService(args, { cwd })
  onTestFinished(() => void stop())
  return new URL(url).port
}

/** A data directory that was used, and closed. */
const used: Prepare = async (cwd) => {
  const { call, stop } = await startService([], { cwd })
  await call('PUT', '/v1/checks/external/a', checkBody())
  await stop()
}
const killed: Prepare = async (cwd) => void (await (await startService([], { cwd })).stop('SIGKILL'))

/** Returns the environment in which Node.js has another version. */
function nodeOf(version: string): Record<string, string> {
  const module = `Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '${version}' } })`
  return { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(module)}` }
}

const isRoot = process.getuid?.() === 0
const isWindows = process.platform === 'win32'
const hasIpv6 = Object.values(networkInterfaces())
  .flat()
  .some((one) => one?.address === '::1')
const isLinux = process.platform === 'linux'

const situations: [situation: string, expected: Outcome, prepare: Prepare, impossible?: boolean][] = [
  ['an empty directory', 'starts', () => {}],
  ['a data directory that was closed', 'starts', used],
  ['a data directory whose service was killed', 'starts', killed],
  ['any free port', 'starts', flags('--port', '0')],
  ['a port of another program', 'refused', async () => ({ args: ['--port', await takenPort()] })],
  [
    'a port of another program, from the environment',
    'refused',
    async () => ({
      args: [],
      env: { TABWIRE_PORT: await takenPort() },
    }),
  ],
  [
    'a port of another program, from the settings file',
    'refused',
    async (cwd) => {
      await file('tabwire.config.json', { port: Number(await takenPort()) })(cwd)
      return { args: [] }
    },
  ],
  [
    'a port of a Tabwire on another directory',
    'refused',
    async () => ({
      args: ['--port', await service(await emptyDirectory(), '--in-memory')],
    }),
  ],
  [
    'a port that was left in run.json and is of another Tabwire now',
    'refused',
    async (cwd) => {
      await killed(cwd)
      return { args: ['--port', await service(await emptyDirectory(), '--in-memory')] }
    },
  ],
  ['a service that runs here', 'runs already', async (cwd) => void (await service(cwd))],
  [
    'a service that runs here, at the same port',
    'runs already',
    async (cwd) => ({
      args: ['--port', await service(cwd)],
    }),
  ],
  [
    'a service in memory that runs here, at the same port',
    'runs already',
    async (cwd) => ({
      args: ['--in-memory', '--port', await service(cwd, '--in-memory')],
    }),
  ],
  [
    'a service in memory that runs here, at another port',
    'starts',
    async (cwd) => {
      await service(cwd, '--in-memory')
    },
  ],
  ['a service on HTTPS that runs here', 'runs already', async (cwd) => void (await service(cwd, '--https'))],
  [
    'a data directory that a process has which serves nothing',
    'refused',
    async (cwd) => {
      const simulator = await startSimulator({ dataDirectory: join(cwd, '.tabwire'), port: false })
      onTestFinished(() => simulator.close())
    },
  ],
  [
    'such a data directory, and a start in memory',
    'starts',
    async (cwd) => {
      const simulator = await startSimulator({ dataDirectory: join(cwd, '.tabwire'), port: false })
      onTestFinished(() => simulator.close())
      return { args: ['--port', '0', '--in-memory'] }
    },
  ],
  ['the IPv6 loopback address', 'starts', flags('--port', '0', '--host', '::1'), !hasIpv6],
  ['all addresses', 'starts', flags('--port', '0', '--host', '0.0.0.0')],
  ['an address of another machine', 'refused', flags('--port', '0', '--host', '192.0.2.1')],
  ['a host without an address', 'refused', flags('--port', '0', '--host', 'nowhere.invalid')],
  ['an empty host', 'refused', flags('--host', '')],
  ['a port that browsers block', 'refused', flags('--port', '6000')],
  ['a port that is no port', 'refused', flags('--port', '65536')],
  ['a file in place of the data directory', 'refused', file('.tabwire', 'mine')],
  [
    'a data directory below a file',
    'refused',
    both(file('kept', 'mine'), flags('--port', '0', '--data-dir', 'kept/data')),
  ],
  [
    'a data directory where none can be made',
    'refused',
    flags('--port', '0', '--data-dir', '/proc/tabwire'),
    !isLinux,
  ],
  [
    'a data directory below a file, and a start in memory',
    'starts',
    both(file('kept', 'mine'), flags('--port', '0', '--in-memory', '--data-dir', 'kept/data')),
  ],
  [
    'a data directory below a file, and a start in memory on HTTPS',
    'refused',
    both(file('kept', 'mine'), flags('--port', '0', '--in-memory', '--https', '--data-dir', 'kept/data')),
  ],
  [
    'several folders to be made above the data directory',
    'starts',
    flags('--port', '0', '--data-dir', 'a/b/c'),
  ],
  [
    'a data directory that is a link to nothing',
    'refused',
    (cwd) => symlink('gone', join(cwd, '.tabwire')),
    isWindows,
  ],
  [
    'a data directory that may not be written',
    'refused',
    async (cwd) => {
      await mkdir(join(cwd, '.tabwire'))
      await chmod(join(cwd, '.tabwire'), 0o500)
    },
    isRoot || isWindows,
  ],
  ['a directory in which none may be made', 'refused', (cwd) => chmod(cwd, 0o500), isRoot || isWindows],
  ['a damaged db.json', 'refused', file('.tabwire/db.json', '{"a":')],
  [
    'a damaged db.json, and a start in memory',
    'starts',
    both(file('.tabwire/db.json', '{"a":'), flags('--port', '0', '--in-memory')),
  ],
  [
    'a db.json of a newer version',
    'refused',
    file('.tabwire/db.json', { version: 99, sequence: 1, records: {} }),
  ],
  ['a damaged journal', 'refused', both(used, file('.tabwire/journal.ndjson', '!!!\n{}\n'))],
  [
    'a journal that breaks off',
    'starts',
    both(killed, async (cwd) => {
      const journal = join(cwd, '.tabwire', 'journal.ndjson')
      await writeFile(journal, (await readFile(journal)).subarray(0, -10))
    }),
  ],
  ['damaged credentials', 'starts', both(used, file('.tabwire/credentials.json', '{'))],
  ...['credentials.json', 'lock.7', 'db.json', 'db.json.tmp', 'journal.ndjson', 'journal.old.ndjson'].map(
    (name): [string, Outcome, Prepare] => [
      `a folder in place of ${name}`,
      'refused',
      folder(`.tabwire/${name}`),
    ],
  ),
  ['a folder in place of run.json', 'starts', folder('.tabwire/run.json')],
  ['a settings file that is no JSON', 'refused', file('tabwire.config.json', '{"port": 1,}')],
  ['a settings file with an unknown key', 'refused', file('tabwire.config.json', { prot: 1 })],
  [
    'a settings file with a wrong value of a flag that doctor has no use for',
    'refused',
    file('tabwire.config.json', { rate_limit: 'often' }),
  ],
  ['a settings file that is not there', 'refused', flags('--port', '0', '--config', 'gone.json')],
  [
    'a settings file that names a data directory in use',
    'refused',
    async (cwd) => {
      const simulator = await startSimulator({ dataDirectory: join(cwd, 'kept'), port: false })
      onTestFinished(() => simulator.close())
      await file('tabwire.config.json', { data_dir: 'kept' })(cwd)
    },
  ],
  [
    'a wrong variable in the environment',
    'refused',
    () => ({ args: ['--port', '0'], env: { TABWIRE_RATE_LIMIT: 'often' } }),
  ],
  ['a seed over kept data', 'refused', flags('--port', '0', '--seed', '7')],
  ['a seed in memory', 'starts', flags('--port', '0', '--seed', '7', '--in-memory')],
  ['an authority that is not there', 'refused', flags('--port', '0', '--cacert', 'gone.pem')],
  [
    'an authority that is not a certificate',
    'refused',
    both(file('ca.pem', 'no'), flags('--port', '0', '--cacert', 'ca.pem')),
  ],
  [
    'an authority that is a damaged certificate',
    'refused',
    both(
      file('ca.pem', '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n'),
      flags('--port', '0', '--cacert', 'ca.pem'),
    ),
  ],
  ['HTTPS', 'starts', flags('--port', '0', '--https')],
  [
    'HTTPS with the authority that is there',
    'starts',
    both(async (cwd) => void (await openAuthority(join(cwd, '.tabwire'))), flags('--port', '0', '--https')),
  ],
  [
    'HTTPS on all addresses with the authority that is there',
    'starts',
    both(
      async (cwd) => void (await openAuthority(join(cwd, '.tabwire'))),
      flags('--port', '0', '--https', '--host', '0.0.0.0'),
    ),
  ],
  [
    'HTTPS with a damaged local authority',
    'refused',
    both(file('.tabwire/ca/ca.pem', 'no'), flags('--port', '0', '--https')),
  ],
  [
    'HTTPS with a file in place of the authority',
    'refused',
    both(file('.tabwire/ca', 'no'), flags('--port', '0', '--https')),
  ],
  [
    'HTTPS with a folder of other things in place of the authority',
    'refused',
    both(file('.tabwire/ca/mine', 'no'), flags('--port', '0', '--https')),
  ],
  ['a damaged local authority without HTTPS', 'starts', file('.tabwire/ca/ca.pem', 'no')],
  ['an env file in a folder that is not there', 'refused', flags('--port', '0', '--dotenv', 'gone/.env')],
  ['an env file that is a folder', 'refused', both(folder('env'), flags('--port', '0', '--dotenv', 'env'))],
  ['an env file that is to be made', 'starts', flags('--port', '0', '--dotenv', '.env')],
  ['a Node.js that is too old', 'refused', () => ({ args: ['--port', '0'], env: nodeOf('20.18.3') })],
]

/** Without those that this system or user cannot be brought into. */
const possible = situations.filter(([, , , impossible = false]) => !impossible)

describe('tabwire doctor predicts whether tabwire start succeeds:', () => {
  test.each(sampled(possible, 12))('%s (%s)', async (_situation, expected, prepare) => {
    const cwd = await emptyDirectory()
    const { args = ['--port', '0'], env = {} } = await situationOf(prepare, cwd)
    const options = { cwd, env }
    const doctor = await tabwire(['doctor', '--json', ...args], options)
    const start =
      expected === 'starts'
        ? await started(['start', '--json', ...args], options)
        : await refused(['start', '--json', ...args], options)
    expect({ start: start.outcome, doctor: doctor.code === 0 }).toEqual({
      start: expected,
      doctor: expected !== 'refused',
    })
    const told = JSON.parse(doctor.stdout) as { ok?: boolean; error?: object }
    // Both report wrong flags and settings with the same message; doctor reports the rest as a finding.
    if (start.code === 2)
      expect({ code: doctor.code, ...told }).toEqual({ code: 2, error: sameWords(start.error) })
    else expect(told.ok ?? false).toBe(expected !== 'refused')
  })
})

test.each([
  ['20.19.0', true],
  ['22.2.0', true],
  ['20.18.3', false],
  ['21.7.3', false],
  ['22.1.0', false],
])('a command runs with Node.js %s: %s', async (version, runs) => {
  const { code, stdout, stderr } = await tabwire(['locations', '--help'], { env: nodeOf(version) })
  expect({ code, isShown: stdout.includes('tabwire locations') }).toEqual({
    code: runs ? 0 : 1,
    isShown: runs,
  })
  if (!runs)
    expect(stderr).toMatch(`Error: Node.js ${version} is too old. Tabwire needs 20.19, 22.2 or newer.`)
})

/** How a start ended that is to be refused; one that runs instead has the test fail by its timeout. */
async function refused(args: readonly string[], options: RunOptions) {
  const { code, stdout } = await tabwire(args, options)
  const { error } = JSON.parse(stdout) as { error: { code: string; message: string } }
  return { outcome: error.code === 'already_running' ? 'runs already' : 'refused', code, error }
}

/** Whether a start came to run; it is ended again. */
async function started(args: readonly string[], options: RunOptions) {
  const running = await spawnTabwire(args, options)
  const outcome = await Promise.race([
    running.until('stdout', /"type":"ready"/).then(() => 'starts'),
    running.ended.then(() => 'refused'),
  ])
  running.child.kill()
  const { code } = await running.ended
  return { outcome, code, error: undefined }
}

function sameWords(error: { code: string; message: string } | undefined) {
  return { ...error, message: error?.message.replace('tabwire start', 'tabwire doctor') }
}
