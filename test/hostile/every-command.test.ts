import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { beforeAll, describe, expect, test } from 'vitest'
import { isSoak } from '../soak/seeded.ts'
import { openAuthority } from '../../src/certificates/authority.ts'
import { emptyDirectory, fixtures, spawnProcess } from '../support/cli.ts'

const root = fileURLToPath(new URL('../../', import.meta.url))
const guard = new URL('../support/no-way-out.mjs', import.meta.url).href
const driver = fileURLToPath(new URL('../support/every-command.mjs', import.meta.url))
const { commands } = JSON.parse(readFileSync(join(root, 'oclif.manifest.json'), 'utf8')) as {
  commands: Record<string, { examples?: string[] }>
}

/** The whole of it takes a while; it is run below, with the files of the clone and with a few cases. */
const apart = ['contract:check']

/** A clone with hostile content in each field. */
const planted = {
  'run.json': {
    url: 'http://attacker.example:4100',
    pid: 1,
    started_at: 'x',
    api_key: 'twk_planted',
    ca: 'PEM',
  },
  'credentials.json': { api_key: 'twk_planted', table_secret: 'planted' },
  'clock.json': { offset_ms: 9_999_999_999 },
  'installation.json': { id: '../../victim', proof: 'x' },
  'open.html': '<meta http-equiv="refresh" content="0;url=http://attacker.example/">',
  'listen/secret': { signing_secret: `whsec_${'a'.repeat(43)}` },
  'states/third-retry.json': { endpoints: [{ url: 'https://attacker.example/', signing_secret: 'x' }] },
}
const settings = {
  api_key: 'twk_planted',
  dotenv: '../victim',
  host: '0.0.0.0',
  allowed_host: ['attacker.example'],
  cacert: ['../victim'],
  insecure: true,
  listen: { forward: [{ to: 'https://attacker.example/' }] },
}
const scenario = { title: 'x', steps: [{ push: '../../victim', check: '$(touch ran)' }] }
const profile = { keys: { read: { env: 'TABWIRE_API_KEY' } }, base_url: 'https://attacker.example' }

interface Clone {
  home: string
  cwd: string
}

/** A folder beside the user's own files; `tracked` as git checks it out, otherwise as an archive unpacks it. */
async function clone(tracked: boolean): Promise<Clone> {
  const home = await emptyDirectory()
  const cwd = join(home, 'clone')
  await mkdir(join(cwd, '.tabwire', 'listen'), { recursive: true, mode: 0o700 })
  await mkdir(join(cwd, '.tabwire', 'states'))
  await openAuthority(join(cwd, '.tabwire'))
  for (const [name, content] of Object.entries(planted))
    await writeFile(join(cwd, '.tabwire', name), JSON.stringify(content))
  for (const [name, content] of Object.entries({
    'tabwire.config.json': settings,
    'evil.json': scenario,
    'profile.json': profile,
  }))
    await writeFile(join(cwd, name), JSON.stringify(content))
  await writeFile(join(home, 'victim'), 'mine\n')
  for (const name of ['.env', '.secret', 'contract.xml', 'delivery.json'])
    await symlink('../victim', join(cwd, name))
  await symlink(fixtures, join(cwd, 'fixtures'), 'junction')
  if (!tracked) return { home, cwd }
  execFileSync('git', ['init'], { cwd, stdio: 'ignore' })
  execFileSync('git', ['add', '-f', '.tabwire'], { cwd, stdio: 'ignore' })
  await writeFile(join(cwd, '.git', 'config'), `[core]\n\tfsmonitor = touch '${join(home, 'ran')}'\n`, {
    flag: 'a',
  })
  return { home, cwd }
}

/** The words that a shell makes of an example. */
function words(example: string): string[] {
  const text = example.replaceAll('<%= config.bin %>', 'tabwire').replace(/ +(#|>|\|).*$/, '')
  return Array.from(text.matchAll(/'([^']*)'|(\S+)/g), ([, quoted, bare = '']) => quoted ?? bare).slice(1)
}

const cases = Object.entries(commands)
  .filter(([id]) => !apart.includes(id))
  .map(([id, { examples = [] }]): [name: string, args: string[]] => [
    id.replaceAll(':', ' '),
    words(examples[0] ?? `tabwire ${id.replaceAll(':', ' ')}`),
  ])
const further: typeof cases = [
  ['scenario run, of a file of the clone', ['scenario', 'run', 'evil.json']],
  ['scenario run, passing on', ['scenario', 'run', 'evil.json', '--forward-to', 'localhost:9']],
  ['listen, to where the clone says', ['listen', '--dotenv', '.env']],
  ['listen --print-secret', ['listen', '--print-secret']],
  ['start, with the files of the clone', ['start', '--dotenv', '.env', '--port', '0']],
  [
    'endpoints create, with the files of the clone',
    [
      'endpoints',
      'create',
      'https://a.example/',
      '--events',
      'all',
      '--secret-file',
      '.secret',
      '--dotenv',
      '.env',
    ],
  ],
  ['state load', ['state', 'load', 'third-retry']],
  ['open', ['open']],
  [
    'contract check, with the profile of the clone',
    ['contract', 'check', '--base-url', 'http://127.0.0.1:9/v1', '--profile', 'profile.json'],
  ],
  ['contract check', ['contract', 'check', '--only', 'access', '--junit', 'contract.xml']],
]

test('this test detects requests to other machines and programs that a command runs', async () => {
  const log = join(await emptyDirectory(), 'log')
  const args = [
    '--import',
    guard,
    join(root, 'bin', 'run.js'),
    'locations',
    '--url',
    'http://attacker.example',
  ]
  await (
    await spawnProcess(process.execPath, args, { env: { NO_WAY_OUT: log } })
  ).ended
  expect(await readFile(log, 'utf8')).toMatch(/^connect attacker\.example\n/)
  const run = ['--import', guard, '--eval', "require('node:child_process').spawn('xdg-open', ['x'])"]
  await (
    await spawnProcess(process.execPath, run, { env: { NO_WAY_OUT: log } })
  ).ended
  expect(await readFile(log, 'utf8')).toContain('spawn xdg-open x\n')
})

/** The result of one command in the clone. */
interface Ran {
  args: string[]
  /** `ended`, or why it did not. */
  ended: string
  text: string
  /** Calls and programs that were prevented. */
  log: string
}

/** Runs all commands in one process, one after the other: a process for each would take a minute. */
async function runAll(all: typeof cases, tracked: boolean): Promise<{ clone: Clone; ran: Ran[] }> {
  const made = await clone(tracked)
  const log = join(await emptyDirectory(), 'log')
  const env = { NO_WAY_OUT: log, TABWIRE_API_KEY: 'twk_ours', HOME: made.home, XDG_STATE_HOME: '' }
  const args = ['--import', guard, driver, JSON.stringify(all.map(([, words]) => words)), log]
  const { ended } = await spawnProcess(process.execPath, args, { cwd: made.cwd, env })
  const { stdout } = await ended
  return {
    clone: made,
    ran: stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Ran),
  }
}

describe.skipIf(process.platform === 'win32').each([
  ['that git checked out', true],
  ['from an archive', false],
] as const)('in a clone %s', (_how, tracked) => {
  // Each command runs in one of the clones, and in the soak in both.
  const all = [...cases, ...further].filter((_one, index) => isSoak || (index % 2 === 0) === tracked)
  let made: Awaited<ReturnType<typeof runAll>>
  beforeAll(async () => {
    made = await runAll(all, tracked)
  })

  test.each(all.map(([name], index) => [name, index] as const))(
    'tabwire %s calls no other machine, runs no program, ends, and prints no key',
    (_name, index) => {
      const { ended, log, text = '' } = made.ran[index] ?? {}
      expect({ ended, log }).toEqual({ ended: 'ended', log: '' })
      expect(text).not.toContain('twk_ours')
    },
  )

  test('nothing outside the clone was written', async () => {
    const { home } = made.clone
    expect(await readFile(join(home, 'victim'), 'utf8')).toBe('mine\n')
    const written = (await readdir(home, { recursive: true })).filter((path) => !path.startsWith('clone/'))
    const own = join('.local', 'state', 'tabwire')
    expect(written.filter((path) => !path.startsWith(own)).sort()).toEqual(
      expect.toBeOneOf([
        ['clone', 'victim'],
        ['.local', join('.local', 'state'), 'clone', 'victim'],
      ]),
    )
  })
})
