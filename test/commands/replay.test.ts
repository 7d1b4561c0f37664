import { readFileSync } from 'node:fs'
import { readFile, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { isSoak, sampled } from '../soak/seeded.ts'
import { overHttp } from '../mcp/clients.ts'
import type { Bundle } from '../../src/model/simulator/bundle.ts'
import { startReceiver } from '../support/https-receiver.ts'
import {
  bin,
  checkBody,
  emptyDirectory,
  fixtures,
  serve,
  spawnProcess,
  spawnTabwire,
  tabwire,
  type Ended,
} from '../support/cli.ts'
import { expectMode } from '../support/file-mode.ts'
const { NEWER_NODE = '' } = process.env

/** The flags of a report, and the file that they write. */
const formats: readonly (readonly string[])[] = [
  [],
  ['--json'],
  ['--tap'],
  ['--account'],
  ['--account', '--json'],
  ['--all-closed', '--tap', '--junit', 'report.xml'],
  ['--account', '--junit', 'report.xml', '--fail-on', 'overpaid'],
  ['--fail-on', 'none'],
]

/** Output of a report, and the files that it wrote. */
interface Printed extends Pick<Ended, 'code' | 'stdout'> {
  junit: string
}

async function printed(cwd: string, { code, stdout }: Ended): Promise<Printed> {
  const junit = await readFile(join(cwd, 'report.xml'), 'utf8').catch(() => '')
  await rm(join(cwd, 'report.xml'), { force: true })
  return { code, stdout, junit }
}

/** Bundle and reports of a service whose directory no longer exists. */
let bundle: string
let reports: Printed[]
/** Requests that its receiver has got. */
let received: () => number

beforeAll(async () => {
  const receiver = await startReceiver({ answer: 500 })
  received = () => receiver.requests.length
  const service = await serve({ allowHttpLoopback: true })
  const { cwd } = service
  await service.json('endpoints', 'create', receiver.url, '--events', 'all')
  await service.call('PUT', '/v1/checks/external/table-12', checkBody())
  await service.call(
    'PUT',
    '/v1/checks/external/table-13',
    checkBody({ totals: { ...checkBody().totals, total_cents: 1 } }),
  )
  await service.call('PUT', '/v1/checks/external/table-14', { table: '14' })
  await service.call('POST', '/_sim/checks/table-12/payments', { tip_cents: 200 })
  await service.run(['clock', 'advance', '20m'])
  reports = []
  for (const flags of formats) reports.push(await printed(cwd, await service.run(['report', ...flags])))
  const { code, stdout, stderr } = await service.run(['report', '--bundle', 'failure.json'])
  expect({ code, stdout }).toEqual({ code: 3, stdout: reports[0]?.stdout })
  expect(stderr).toBe('Bundle written. Replay it with `tabwire replay failure.json`.\n')
  await expectMode(join(cwd, 'failure.json'), 0o600)
  bundle = await readFile(join(cwd, 'failure.json'), 'utf8')
  await service.stop()
  await rm(cwd, { recursive: true })
  return () => receiver.close()
})

async function directoryWith(text: string | Uint8Array): Promise<string> {
  const cwd = await emptyDirectory()
  await writeFile(join(cwd, 'failure.json'), text)
  return cwd
}

/** Replays a bundle in a directory of its own. */
async function replayOf(text: string | Uint8Array, flags: readonly string[] = []): Promise<Ended> {
  return tabwire(['replay', 'failure.json', ...flags], { cwd: await directoryWith(text) })
}

/** The bundle with other fields. */
function changed(change: (bundle: Bundle) => unknown): string {
  const parsed = JSON.parse(bundle) as Bundle
  return JSON.stringify({ ...parsed, ...(change(parsed) as object) })
}

describe('tabwire replay', () => {
  test.each(formats.map((flags, at) => ({ flags, at })))(
    'prints the same bytes as report $flags, in another directory',
    async ({ flags, at }) => {
      const cwd = await directoryWith(bundle)
      const ended = await tabwire(['replay', 'failure.json', ...flags], { cwd })
      expect(await printed(cwd, ended)).toEqual(reports[at])
      expect(ended.stderr).toMatch(
        /^Replay of \d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC, recorded by Tabwire \S+ on Node\.js v\S+ \(\w+ \w+\)\.\n\n$/,
      )
    },
  )

  test.runIf(isSoak)('prints the same in two runs, and does not change the bundle', async () => {
    const cwd = await directoryWith(bundle)
    const [one, two] = [
      await tabwire(['replay', 'failure.json', '--account'], { cwd }),
      await tabwire(['replay', '-', '--account'], { cwd, input: bundle }),
    ]
    expect(two).toEqual(one)
    expect(await readFile(join(cwd, 'failure.json'), 'utf8')).toBe(bundle)
  })

  const onNewer = NEWER_NODE === '' ? ' (skipped: NEWER_NODE names none)' : ''
  test.skipIf(NEWER_NODE === '')(`prints the same bytes on a newer Node.js${onNewer}`, async () => {
    const cwd = await directoryWith(bundle)
    for (const [at, flags] of formats.entries()) {
      const { ended } = await spawnProcess(NEWER_NODE, [bin, 'replay', 'failure.json', ...flags], { cwd })
      expect(await printed(cwd, await ended)).toEqual(reports[at])
    }
  })

  test.runIf(isSoak)('uses the options of the recorded command, unless flags override them', async () => {
    const recorded = changed(({ verdict }) => ({
      command: {
        name: 'report',
        target: 'http://127.0.0.1:4100',
        account: true,
        fail_on: ['unit_change', 'a_later_code'],
        exit_code: null,
        guests: null,
      },
      verdict: { ...verdict },
    }))
    const { code, stdout } = await replayOf(recorded)
    expect({ code, stdout }).toEqual({ code: 0, stdout: reports[3]?.stdout })
    expect((await replayOf(recorded, ['--fail-on', 'any'])).code).toBe(3)
    expect((await replayOf(changed(() => ({ command: null })))).code).toBe(3)
  })

  test.runIf(isSoak)('--since counts back from the recorded clock', async () => {
    expect((await replayOf(bundle, ['--since', '1s'])).stdout).toMatch(/^No pushes since /)
    const { stdout } = await replayOf(bundle, ['--since', '1h', '--json'])
    expect(JSON.parse(stdout)).toMatchObject({ pushes: 3, findings: [{ code: 'totals_mismatch' }, {}, {}] })
  })

  test.runIf(isSoak)(
    'warns when the report differs from the recorded one, and exits by its own report',
    async () => {
      const other = changed(({ verdict }) => ({
        tabwire: '9.9.9',
        verdict: { ...verdict, report: { ...verdict.report, findings: [] } },
      }))
      const { code, stdout, stderr } = await replayOf(other)
      expect({ code, stdout }).toEqual({ code: 3, stdout: reports[0]?.stdout })
      expect(stderr).toMatch(
        /\nWarning: The report differs from the recorded one\. Tabwire 9\.9\.9 on Node\.js v\S+ wrote the bundle; use that version for the recorded report\. The exit code follows the report below\.\n$/,
      )
    },
  )

  test.skipIf(process.platform === 'win32')(
    '--serve shows the recorded service, sends nothing, and exits on Ctrl-C with the code of the report',
    async () => {
      const before = received()
      const cwd = await directoryWith(bundle)
      const running = await spawnTabwire(['replay', 'failure.json', '--serve', '--json'], { cwd })
      const text = await running.until('stdout', /"ready".*\n/)
      const lines = text.trim().split('\n')
      const [report, ready] = lines.map((line) => JSON.parse(line) as Record<string, string>)
      expect(report).toHaveProperty('findings')
      const { url = '', api_key, inspector } = ready ?? {}
      expect(inspector).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/#link=/)
      const call = async (method: string, path: string, body?: object) => {
        const headers = { authorization: `Bearer ${api_key}`, 'content-type': 'application/json' }
        const answer = await fetch(`${url}${path}`, {
          method,
          headers,
          body: body ? JSON.stringify(body) : null,
        })
        return (await answer.json()) as Record<string, unknown>
      }
      const { state, log } = JSON.parse(bundle) as Bundle
      expect(await call('GET', '/_sim/deliveries')).toMatchObject({
        data: state.deliveries.toReversed().map(({ id, status }) => ({ id, status })),
      })
      expect(await call('GET', '/_sim/requests')).toMatchObject({
        data: log.requests.toReversed().map(({ id, status }) => ({ id, status })),
      })
      expect(await call('POST', '/_sim/clock', { advance: '72h' })).toMatchObject({ attempted_total: 0 })
      await call('POST', `/_sim/deliveries/${state.deliveries[0]?.id}/resend`, {})
      const [endpoint] = state.endpoints
      const agent = await overHttp({ url: url ?? '', key: api_key ?? '' })
      const checked = await agent.call('receiver_check', { url: endpoint?.url, secret: 'whsec_x' })
      expect(checked).toMatchObject({
        isError: true,
        text: expect.stringContaining('This service is a replay, which sends nothing.') as string,
      })
      expect(received()).toBe(before)
      running.child.kill('SIGINT')
      const { code, stderr } = await running.ended
      expect(code).toBe(3)
      expect(report).toEqual(JSON.parse(reports[1]?.stdout ?? ''))
      expect(stderr).toMatch(/^Replay of .*\n\n$/)
    },
  )

  test.runIf(isSoak)('--serve prints the link, and says what Ctrl-C does', async () => {
    const cwd = await directoryWith(bundle)
    const running = await spawnTabwire(
      ['replay', 'failure.json', '--serve', '--port', '0', '--fail-on', 'none'],
      { cwd },
    )
    const text = await running.until('stderr', /Press Ctrl-C/)
    expect(text).toMatch(
      /\ninspector +http:\/\/127\.0\.0\.1:\d+\/#link=\S+\n +works once, within ten minutes\n\nThe replay sends no deliveries\. Press Ctrl-C to stop\.\n$/,
    )
    running.child.kill('SIGTERM')
    expect((await running.ended).code).toBe(0)
  })
})

describe('a bundle that is not valid', () => {
  const hostile: [what: string, text: () => string | Uint8Array, message: RegExp][] = [
    [
      'is empty',
      () => '',
      /is not complete JSON\. It is another file, or it was cut off\. Copy the bundle again\./,
    ],
    ['is cut off', () => bundle.slice(0, bundle.length / 2), /is not complete JSON\./],
    [
      'is not UTF-8',
      () => Buffer.concat([Buffer.from(bundle), Buffer.from([0xff])]),
      /is not complete JSON\./,
    ],
    [
      'is a list',
      () => '[]',
      /is not a bundle: its format must be "tabwire-bundle"\. Write one with `tabwire report/,
    ],
    ['is a state', () => JSON.stringify((JSON.parse(bundle) as Bundle).state), /is not a bundle: its format/],
    [
      'is newer',
      () => changed(() => ({ version: 2, tabwire: '7.0.0' })),
      /has version 2 of the format, but this Tabwire reads version 1\. It was written by Tabwire 7\.0\.0\. Upgrade Tabwire\./,
    ],
    [
      'has a version of another type',
      () => changed(() => ({ version: '1' })),
      /is not a valid bundle: version must be 1/,
    ],
    ['has no log', () => changed(() => ({ log: undefined })), /log is required/],
    ['has unknown fields', () => changed(() => ({ more: 1 })), /body has unknown fields: more/],
    [
      'sets a prototype',
      () => bundle.replace('{', '{"__proto__":{"polluted":true},'),
      /body has unknown fields: __proto__/,
    ],
    [
      'has a huge number',
      () =>
        bundle
          .replace(/"pushes": \d+,\s+"refused": \[\]/, '"pushes": 1e999,"refused":[]')
          .replace(/"total_cents":\d+/, '"total_cents":1e400'),
      /total_cents must be/,
    ],
    [
      'has a fraction of a cent',
      () => bundle.replace(/"tip_cents":200/, '"tip_cents":200.5'),
      /tip_cents must be an integer/,
    ],
    [
      'has an id like a path',
      () => bundle.replaceAll(/"req_\w{26}"/g, '"../../../etc/passwd"'),
      /id must be an identifier: req_ and 26 characters/,
    ],
    [
      'has an index beyond its list',
      () => changed(({ log }) => ({ log: { ...log, checks: [] } })),
      /log\.requests\[\d\]\.push\.after must be an index of log\.checks, which has 0 elements/,
    ],
    [
      'has a negative index',
      () => bundle.replace(/"after":0/, '"after":-1'),
      /push\.after must be at least 0/,
    ],
    [
      'has a payment too few',
      () => changed(({ state }) => ({ state: { ...state, payments: [] } })),
      /state\.checks\[\d\]\.paid_cents must be the sum of its payments/,
    ],
    [
      'has another location',
      () => changed(() => ({ location_id: 'loc_00000000000000000000000000' })),
      /location_id must refer to a location of the state/,
    ],
    [
      'has another clock',
      () => changed(({ clock }) => ({ clock: { ...clock, now: '2020-01-01T00:00:00.000Z' } })),
      /clock\.now must be state\.clock\.now/,
    ],
    [
      'has a header in the name of the service',
      () => changed(({ settings }) => ({ settings: { ...settings, service_name: 'A\r\nB: c' } })),
      /settings\.service_name must be valid for its setting/,
    ],
    [
      'has events that do not fit',
      () =>
        changed(({ state }) => ({
          state: {
            ...state,
            events: state.events.map((event) => ({
              ...event,
              body: event.body.replace('"items"', '"itemz"'),
            })),
          },
        })),
      /its records do not fit together/,
    ],
    [
      'has a push of another form',
      () => bundle.replaceAll(/("request_body":"\{)\\"table\\"/g, '$1\\"tablet\\"'),
      /log\.requests\[\d\]\.request_body must be a push, as JSON text/,
    ],
    ['has a control character', () => changed(() => ({ '\u001b[2J': 1 })), /unknown fields: ␛\[2J/],
    [
      'is longer than 64 MiB',
      () => Buffer.alloc(100 * 1024 * 1024, ' '),
      /has 100 MiB, but a bundle has at most 64 MiB\./,
    ],
  ]
  test.each(sampled(hostile, 3))('is refused with one line, because it %s', async (_what, text, message) => {
    const { code, stdout, stderr } = await replayOf(text())
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr.replace(/^Replay of .*\n\n/, '')).toMatch(/^Error: failure\.json [^\n]+\n$/)
    expect(stderr).toMatch(message)
    expect(stderr.length).toBeLessThan(2_000)
  })

  test('is named in the error when it is missing or a directory; --json prints the error as JSON', async () => {
    const { code, stderr } = await tabwire(['replay', 'none.json'])
    expect({ code, stderr }).toEqual({ code: 2, stderr: 'Error: Cannot read none.json: no such file.\n' })
    expect((await tabwire(['replay', '.'])).stderr).toBe('Error: Cannot read .: it is a directory.\n')
    const { stdout } = await replayOf('{', ['--json'])
    expect(JSON.parse(stdout)).toMatchObject({ error: { code: 'invalid_bundle' } })
  })
})

const pos = readFileSync(join(fixtures, 'pos/pos.mjs'), 'utf8')

/** Runs a POS in `exec` with guests, in a directory of its own. */
async function exec(program: string, flags: readonly string[]) {
  const cwd = await emptyDirectory()
  await writeFile(join(cwd, 'pos.mjs'), program)
  const words = [
    'exec',
    '--allow-http-loopback',
    '--guests',
    '4',
    '--all-closed',
    '--bundle',
    'failure.json',
    ...flags,
  ]
  const env = { POS_DAY: '2026-11-23', POS_SEATINGS: '1', POS_QUIET_MS: '700', POS_GIVE_UP_MS: '2000' }
  const { ended } = await spawnTabwire([...words, '--', process.execPath, 'pos.mjs'], { cwd, env })
  return { cwd, ...(await ended) }
}

describe('tabwire exec --bundle', () => {
  test.each([
    {
      name: 'of the example POS, which never closes a check',
      program: pos.replace("  bill.status = 'closed'\n", '  return false\n'),
      expected: { code: 1, finding: 'check_left_open' },
    },
    {
      name: 'of a command that succeeds with a wrong push',
      program: `await fetch(process.env.TABWIRE_BASE_URL + '/checks/external/t1', {
        method: 'PUT',
        headers: { authorization: 'Bearer ' + process.env.TABWIRE_API_KEY, 'content-type': 'application/json' },
        body: '{"table":{"number":"1"},"status":"open","items":[],"totals":{"subtotal_cents":1,"tax_cents":0,"total_cents":1}}',
      })`,
      expected: { code: 3, finding: 'totals_mismatch' },
    },
  ])('records a failing run $name, and a replay prints the same report', async ({ program, expected }) => {
    expect(program).not.toBe(pos)
    const flags = ['--fail-on', 'any', '--junit', 'exec.xml', '--faults', 'duplicate=0.2,drop=0.1']
    const { cwd, code, stderr } = await exec(program, flags)
    expect(code).toBe(expected.code)
    expect(stderr).toMatch(/\nBundle written\. Replay it with `tabwire replay failure\.json`\.\n$/)
    const [text, junit] = await Promise.all(
      ['failure.json', 'exec.xml'].map((file) => readFile(join(cwd, file), 'utf8')),
    )
    await rm(cwd, { recursive: true })
    const other = await directoryWith(text ?? '')
    const replayed = await tabwire(['replay', 'failure.json', '--junit', 'exec.xml'], { cwd: other })
    expect(replayed.code).toBe(3)
    expect(replayed.stdout).toContain(expected.finding)
    expect(stderr).toContain(`\n${replayed.stdout}Bundle written.`)
    expect(await readFile(join(other, 'exec.xml'), 'utf8')).toBe(junit)
    // Of the command, which succeeded when the report alone sets the exit code.
    const exit_code = expected.code === 3 ? 0 : expected.code
    expect(replayed.stderr.includes(`ended with exit code ${exit_code}`)).toBe(exit_code !== 0)
    expect(JSON.parse(text ?? '')).toMatchObject({
      faults: { seed: 1, faults: [{ on: 'deliveries', duplicate: 0.2, drop: 0.1 }] },
      command: { name: 'exec', account: true, exit_code, guests: { seed: 1, guests: 4 } },
      verdict: { all_closed: true },
    })
  })

  test('records no run that succeeds; a bundle of report without findings replays with 0', async () => {
    const { cwd, code, stderr } = await exec(pos, ['--fail-on', 'any'])
    expect({ code, says: stderr.includes('Bundle') }).toEqual({ code: 0, says: false })
    await expect(stat(join(cwd, 'failure.json'))).rejects.toThrow('ENOENT')
    const service = await serve()
    await service.call('PUT', '/v1/checks/external/table-12', checkBody())
    const report = await service.run(['report', '--account', '--bundle', 'right.json'])
    const replayed = await tabwire(['replay', join(service.cwd, 'right.json')])
    expect(replayed).toMatchObject({ code: 0, stdout: report.stdout })
    expect(replayed.stdout).toMatch(/^✓ No problems found in 1 push\.\n\n✓ The account adds up\./)
  })

  test.runIf(isSoak)('keeps the exit code of a failed command, and a replay names it', async () => {
    const words = ['exec', '--bundle', 'failure.json', '--', process.execPath, '-e', 'process.exit(7)']
    const cwd = await emptyDirectory()
    expect((await (await spawnTabwire(words, { cwd })).ended).code).toBe(7)
    const { code, stdout, stderr } = await tabwire(['replay', 'failure.json'], { cwd })
    expect({ code, stdout }).toEqual({ code: 0, stdout: 'No pushes, so there is nothing to report.\n' })
    expect(stderr).toContain('The command of `tabwire exec` ended with exit code 7.')
  })

  test.skipIf(process.platform === 'win32')(
    'refuses a bundle file that cannot be written before the command runs',
    async () => {
      const cwd = await emptyDirectory()
      await writeFile(join(cwd, 'target'), 'mine')
      await symlink(join(cwd, 'target'), join(cwd, 'link.json'))
      const ran = join(cwd, 'ran')
      const program = `require('fs').writeFileSync(${JSON.stringify(ran)}, '')`
      for (const [file, why] of [
        ['target/failure.json', 'EEXIST'],
        ['link.json', 'a symbolic link'],
        ['.', 'EISDIR'],
      ] as const) {
        const words = ['exec', '--bundle', file, '--', process.execPath, '-e', program]
        const { code, stderr } = await (await spawnTabwire(words, { cwd })).ended
        expect({ code, stderr }).toEqual({
          code: 1,
          stderr: `Error: --bundle: cannot write the bundle to ${file} (${why}).\n`,
        })
      }
      await expect(stat(ran)).rejects.toThrow('ENOENT')
      expect(await readFile(join(cwd, 'target'), 'utf8')).toBe('mine')
    },
  )
})
