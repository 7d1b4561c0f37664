import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { bin, checkBody, emptyDirectory, spawnProcess, startService, tabwire } from '../support/cli.ts'
import { startDatabaseProxy } from '../support/database-proxy.ts'
import { postgresPrograms, openTestDatabase, type Database } from '../support/postgres.ts'

const SECRET = 'hunter2-password'
/** Nothing listens on port 1. */
const NO_SERVER = `postgres://app:${SECRET}@127.0.0.1:1/app`
const HELP = ' Run `tabwire start --help`.'

interface Line {
  time: string
  level: string
  msg: string
  instance: string
}

interface Ready {
  url: string
  api_key: string
}

const linesOf = (text: string) =>
  text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Line)

describe.concurrent('tabwire start --store', () => {
  test('fails with one line, without the password, when no server answers', async () => {
    const refused = await tabwire(['start', '--port', '0', '--store', NO_SERVER])
    expect(refused).toMatchObject({
      code: 1,
      stdout: '',
      stderr:
        'Error: --store: 127.0.0.1:1 refused the connection (ECONNREFUSED). Check host and port, and that PostgreSQL runs there.\n',
    })
  })

  test('can be set by the environment, and --log json prints errors as lines', async () => {
    const env = { TABWIRE_STORE: NO_SERVER, TABWIRE_LOG: 'json' }
    const { code, stdout, stderr } = await tabwire(['start', '--port', '0'], { env })
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
    expect(linesOf(stderr)).toEqual([
      expect.objectContaining({
        level: 'error',
        msg: expect.stringMatching(/^--store: 127\.0\.0\.1:1 refused/) as string,
      }),
    ])
    expect(stderr).not.toContain(SECRET)
  })

  test.each<[args: string[], message: string]>([
    [['--store', 'mysql://a/b'], '--store must be a PostgreSQL URL such as postgres://user@host/database.'],
    [['--store', NO_SERVER, '--in-memory'], 'Pass --store or --in-memory, not both.'],
    [
      ['--store', NO_SERVER, '--seed', '7'],
      'Pass --store or --seed, not both. A seeded run keeps its data in memory.',
    ],
    [
      ['--store', NO_SERVER, '--clock', '2026-01-01'],
      'Pass --store or --clock, not both. All instances share one clock; `tabwire clock advance` moves it.',
    ],
    [['--sandbox', 'team'], '--sandbox needs --store. Pass --store, or omit --sandbox.'],
    [['--store-key', 'A'.repeat(43)], '--store-key needs --store. Pass --store, or omit --store-key.'],
    [
      ['--store', NO_SERVER, '--store-key', SECRET],
      '--store-key must be 32 bytes in base64, such as the output of `openssl rand -base64 32`.',
    ],
    [
      ['--store', NO_SERVER, '--store-key-file', 'no.key'],
      '--store-key-file: cannot read no.key: no such file.',
    ],
    [
      ['--store', NO_SERVER, '--sandbox', 'Team A'],
      '--sandbox must be 1 to 63 lower-case letters, digits and underscores, beginning with a letter, got "Team A".',
    ],
  ])('%j exits with 2', async (args, message) => {
    const { code, stdout, stderr } = await tabwire(['start', '--port', '0', ...args])
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr.replace(HELP, '')).toBe(`Error: ${message}\n`)
    expect(stderr).not.toContain(SECRET)
  })

  test('is refused in an untrusted settings file, and its URL is not printed', async () => {
    const cwd = await emptyDirectory()
    await writeFile(join(cwd, 'tabwire.config.json'), JSON.stringify({ store: NO_SERVER, sandbox: 'team' }))
    const refused = await tabwire(['start', '--port', '0'], { cwd })
    expect(refused.code).toBe(1)
    expect(refused.stderr).toContain('tabwire.config.json sets store, but you have not trusted this folder.')
    const trusted = await tabwire(['config', 'trust'], { cwd })
    expect(trusted.stdout).toContain('store, sandbox')
    const started = await tabwire(['start', '--port', '0'], { cwd })
    expect(started.stderr).toContain('127.0.0.1:1 refused the connection')
    for (const { stdout, stderr } of [refused, trusted, started])
      expect(stdout + stderr).not.toContain(SECRET)
  })

  test('is checked by doctor', async () => {
    const { code, stdout } = await tabwire(['doctor', '--port', '0', '--store', NO_SERVER, '--json'])
    expect(code).toBe(3)
    expect((JSON.parse(stdout) as { checks: object[] }).checks).toContainEqual({
      check: 'database',
      level: 'bad',
      message:
        '--store: 127.0.0.1:1 refused the connection (ECONNREFUSED). Check host and port, and that PostgreSQL runs there.',
    })
  })

  test('says how to install the package pg when it is missing', async () => {
    const hook = `export const resolve = (name, context, next) => {
      if (name === 'pg') throw Object.assign(new Error('Cannot find package'), { code: 'ERR_MODULE_NOT_FOUND' })
      return next(name, context)
    }`
    const register = `import { register } from 'node:module'; register(${JSON.stringify(`data:text/javascript,${encodeURIComponent(hook)}`)})`
    const imported = `data:text/javascript,${encodeURIComponent(register)}`
    // Node 26 deprecates register; what replaces it is not in Node 20.
    const env = { NODE_OPTIONS: `--disable-warning=DEP0205 --import ${imported}` }
    expect(await tabwire(['start', '--port', '0', '--store', NO_SERVER], { env })).toMatchObject({
      code: 1,
      stdout: '',
      stderr:
        'Error: --store needs the package pg, which is not installed beside Tabwire. Run `npm install pg`, or `npm install --global pg` for a global Tabwire.\n',
    })
  })

  test('does not apply to exec, which runs in memory', async () => {
    const env = { TABWIRE_STORE: NO_SERVER }
    const ran = await tabwire(['exec', '--', process.execPath, '-e', '0'], { env })
    expect(ran.code).toBe(0)
    expect(await tabwire(['exec', `--store=${NO_SERVER}`, '--', 'true'])).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(
        /^Error: Unknown flag --store\..* Run `tabwire exec --help`\.\n$/,
      ) as string,
    })
  })
})

describe('tabwire start --log json', () => {
  test.skipIf(process.platform === 'win32')(
    'prints a JSON line for each request, notice and warning, and no secret',
    async () => {
      const service = await startService([
        '--log',
        'json',
        '--in-memory',
        '--insecure',
        '--api-key',
        'twk_not_in_logs',
      ])
      await service.call('PUT', '/v1/checks/external/a?token=not-in-logs', {})
      await service.call('GET', '/_sim/health')
      await fetch(`${service.url}/t/loc_x/not-in-logs`)
      const { stderr } = await service.stop()
      const lines = linesOf(stderr)
      expect(lines.map(({ msg }) => msg)).toEqual([
        expect.stringMatching(/^--insecure: /) as string,
        'Tabwire is ready.',
        'request',
        'request',
        'The service stops.',
      ])
      expect(lines[2]).toEqual({
        time: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/) as string,
        level: 'info',
        msg: 'request',
        request_id: expect.stringMatching(/^req_/) as string,
        method: 'PUT',
        path: '/v1/checks/external/a',
        status: 422,
        duration_ms: expect.any(Number) as number,
        instance: expect.stringMatching(/:\d+$/) as string,
      })
      expect(lines[3]).toMatchObject({ method: 'GET', path: '/t/loc_x/…' })
      expect(stderr).not.toMatch(/not.in.logs/)
    },
  )
})

describe.skipIf(postgresPrograms === undefined)('two instances of tabwire start --store', () => {
  let database: Database
  beforeAll(async () => {
    database = await openTestDatabase()
  })
  afterAll(() => database.stop())

  test('share key and endpoints, keep no data in files, and refuse private addresses with --host 0.0.0.0', async () => {
    const cwd = await emptyDirectory()
    await mkdir(join(cwd, 'one'))
    const store = ['--store', database.url, '--sandbox', 'shared']
    const one = await startService([...store, '--host', '0.0.0.0'], { cwd })
    const other = await startService([...store, '--data-dir', 'other'], { cwd })
    expect(other.key).toBe(one.key)
    expect((await one.call('PUT', '/v1/checks/external/a', {})).status).toBe(422)
    const hook = { url: 'https://127.0.0.1:9/', event_types: ['check.created'] }
    expect((await one.call('POST', '/v1/webhook-endpoints', hook)).status).toBe(422)
    expect((await other.call('POST', '/v1/webhook-endpoints', hook)).status).toBe(201)
    const open = await startService([...store, '--host', '0.0.0.0', '--data-dir', 'open'], {
      cwd,
      env: { TABWIRE_DENY_PRIVATE: 'false' },
    })
    const second = { ...hook, url: 'https://127.0.0.1:9/second' }
    expect((await open.call('POST', '/v1/webhook-endpoints', second)).status).toBe(201)
    expect((await open.stop()).stderr).not.toContain('--deny-private')
    const list = await one.call('GET', '/v1/webhook-endpoints')
    expect(((await list.json()) as { data: unknown[] }).data).toHaveLength(2)
    const stopped = await one.stop()
    await other.stop()
    expect(stopped.stderr).toContain(
      'Warning: --deny-private is on, because --store and --host 0.0.0.0 serve other machines. Pass --no-deny-private for receivers on private addresses.\n',
    )
    await expect(readFile(join(cwd, '.tabwire/db.json'))).rejects.toThrow('ENOENT')
    await expect(readFile(join(cwd, '.tabwire/credentials.json'))).rejects.toThrow('ENOENT')
  })

  test('exit with 0 on SIGTERM while the database is away and requests wait to be logged', async () => {
    const proxy = await startDatabaseProxy(database)
    // Without the channel of the tests, by which the process would never run out of work.
    const args = ['start', '--json', '--port', '0', '--store', proxy.url, '--sandbox', 'away']
    const { child, until, ended } = await spawnProcess(process.execPath, [bin, ...args], {})
    const { url, api_key: key } = JSON.parse((await until('stdout', /\n/)).split('\n')[0] ?? '') as Ready
    const push = async (id: string) => {
      const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
      const body = JSON.stringify(checkBody())
      return (await fetch(`${url}/v1/checks/external/${id}`, { method: 'PUT', headers, body })).status
    }
    let isOver = false
    const workers = Array.from({ length: 6 }, async (_, worker) => {
      for (let nth = 0; !isOver; nth += 1) isOver = (await push(`${worker}-${nth}`)) === 503
    })
    expect(await push('first')).toBe(201)
    await proxy.close()
    await Promise.all(workers)
    child.kill()
    const { code, stderr } = await ended
    expect({ code, stderr }).toEqual({ code: 0, stderr: expect.not.stringContaining('    at ') as string })
  })

  test('is checked by doctor, which needs no data directory and repairs no database', async () => {
    const store = ['--store', database.url, '--sandbox', 'checked']
    const found = await tabwire(['doctor', '--port', '0', ...store])
    expect(found).toMatchObject({ code: 0, stderr: '' })
    expect(found.stdout).toContain('✓ The database answers, and a start can open the sandbox checked.\n')
    expect(found.stdout).not.toContain('.tabwire yet')
    const service = await startService([...store, '--api-key', 'twk_doctor'], {
      env: { TABWIRE_STORE_KEY: Buffer.alloc(32, 1).toString('base64') },
    })
    expect((await service.stop()).code).toBe(0)
    const env = { TABWIRE_STORE_KEY: Buffer.alloc(32, 2).toString('base64') }
    const refused = await tabwire(['doctor', '--port', '0', '--repair', ...store], { env })
    expect(refused.code).toBe(3)
    expect(refused.stdout).toContain(
      '✗ --store: the secrets of the sandbox checked are encrypted with another',
    )
    expect(refused.stderr).toBe(
      '--repair repairs files of the data directory only. The database was not changed.\n',
    )
  })

  test('start beside a damaged data directory, which doctor does not count as a problem', async () => {
    const cwd = await emptyDirectory()
    await mkdir(join(cwd, '.tabwire'))
    await writeFile(join(cwd, '.tabwire/db.json'), '{"a":')
    const store = ['--store', database.url, '--sandbox', 'beside']
    const { code, stdout } = await tabwire(['doctor', '--port', '0', ...store], { cwd })
    expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringContaining('! ') as string })
    expect(stdout).toContain('db.json')
    expect(await (await startService(store, { cwd })).stop()).toMatchObject({ code: 0 })
  })
})
