import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { isSoak } from '../soak/seeded.ts'
import type { ConformanceReport } from '../../src/conformance/report.ts'
import { emptyDirectory, serve, startService, tabwire } from '../support/cli.ts'
import { foreignProfile, openForeignService } from '../support/foreign-service.ts'

describe.concurrent('tabwire contract check', () => {
  test('checks a new Tabwire service, and prints no progress into a pipe', async () => {
    const cwd = await emptyDirectory()
    const { code, stdout, stderr } = await tabwire(
      ['contract', 'check', '--json', '--junit', 'contract.xml'],
      {
        cwd,
      },
    )
    const { ok, suite, totals } = JSON.parse(stdout) as ConformanceReport
    expect({ code, stderr, ok, suite, failed: totals.failed }).toEqual({
      code: 0,
      stderr: '',
      ok: true,
      suite: 'contract check',
      failed: 0,
    })
    expect(await readFile(join(cwd, 'contract.xml'), 'utf8')).toContain('contract check: retries')
  })

  test.runIf(isSoak)('checks another running service, and leaves no endpoint registered', async () => {
    const service = await serve()
    const args = [
      '--base-url',
      `${service.url}/v1`,
      '--api-key',
      service.key,
      '--only',
      'deliveries',
      '--tap',
    ]
    const { code, stdout } = await service.run(['contract', 'check', ...args])
    const endpoints = await service.json<{ data: unknown[] }>('endpoints', 'list')
    await service.stop()
    expect(code).toBe(0)
    expect(stdout).toMatch(
      /^TAP version 14\n[^]*\nok 1 - deliveries\/event: an event about a check is delivered\n/,
    )
    expect(stdout).not.toContain('not ok')
    expect(endpoints.data).toEqual([])
  })

  test('trusts a service whose authority is in --cacert or NODE_EXTRA_CA_CERTS', async () => {
    const service = await startService(['--https', '--in-memory'])
    const ca = join(service.cwd, '.tabwire', 'ca', 'ca.pem')
    const target = ['--base-url', `${service.url}/v1`, '--api-key', service.key]
    const run = (more: string[], env = {}) =>
      tabwire(['contract', 'check', ...target, '--only', 'access/locations', ...more], { env })
    expect(await run([])).toMatchObject({ code: 1, stderr: expect.stringContaining('--cacert') as string })
    expect((await run(['--cacert', ca])).code).toBe(0)
    expect((await run([], { NODE_EXTRA_CA_CERTS: ca })).code).toBe(0)
    await service.stop()
  })

  test(
    'says which service it tests, and where the key came from',
    { timeout: 120_000, concurrent: false },
    async () => {
      const only = ['--only', 'access/locations']
      const own = await tabwire(['contract', 'check', ...only])
      expect(own.stdout).toMatch(
        /^contract check http:\/\/127\.0\.0\.1:\d+\/v1\n {2}service {4}a new Tabwire service in memory\n {2}signature {2}X-Service-Signature\n {2}API key {4}of that service\n\naccess\n/,
      )
      const service = await serve()
      const cwd = service.cwd
      await writeFile(join(cwd, 'api.key'), service.key)
      await writeFile(
        join(cwd, 'tabwire.config.json'),
        JSON.stringify({ profiles: { staging: { url: service.url, api_key_env: 'STAGING_KEY' } } }),
      )
      const url = ['--base-url', `${service.url}/v1`]
      const headOf = async (args: readonly string[], env: Record<string, string> = {}) => {
        const { stdout, stderr } = await tabwire(['contract', 'check', ...args, ...only], { cwd, env })
        const head = stdout.split('\n\n', 1)[0] ?? ''
        return head === '' ? stderr : head.split('\n').slice(1).join('\n')
      }
      expect(await headOf([...url, '--api-key-file', 'api.key'])).toBe(
        '  service    given by --base-url\n  signature  X-<any name>-Signature\n  API key    --api-key-file',
      )
      expect(await headOf(['--profile', 'staging'], { STAGING_KEY: service.key })).toMatch(
        /service {4}profile staging\n.*\n {2}API key {4}profile staging$/,
      )
      await service.stop()
    },
  )

  test('exits with 1 when a case that --require names could not be checked', async ({ onTestFinished }) => {
    const { baseUrl, apiKey } = await openForeignService({}, onTestFinished)
    const only = ['--only', 'access/locations', '--only', 'retries/schedule', '--wait', '1']
    const args = ['contract', 'check', '--base-url', baseUrl, '--api-key', apiKey, ...only, '--json']
    const [plain, required] = await Promise.all([tabwire(args), tabwire([...args, '--require', 'retries'])])
    expect([plain.code, required.code]).toEqual([0, 1])
    const cases = [plain, required].map(({ stdout }) =>
      (JSON.parse(stdout) as ConformanceReport).cases.map(({ id, verdict }) => `${id} ${verdict}`),
    )
    expect(cases).toEqual([
      ['locations passed', 'schedule not_checked'],
      ['locations passed', 'schedule error'],
    ])
  })

  test('--wait above 10 also extends the time for a GET to show a push', async ({ onTestFinished }) => {
    // Only a check that is shown can be shown without a key, which is this service's mistake.
    const { baseUrl, apiKey } = await openForeignService(
      {
        applyAfterMs: 3_500,
        keyOf: (value, request) =>
          value === 'Bearer full-key' || request.startsWith('GET /v1/checks/') ? 'full' : undefined,
      },
      onTestFinished,
    )
    const args = ['--base-url', baseUrl, '--api-key', apiKey, '--only', 'access/no_key', '--wait', '11']
    const { code, stdout } = await tabwire(['contract', 'check', ...args])
    expect(code).toBe(3)
    expect(stdout).toContain('GET of a check without a key returned 200')
  })

  test.each([
    ['--base-url', ['--base-url', 'https://a.test/v1?x=1']],
    ['--receiver-url', ['--base-url', 'http://127.0.0.1:1/v1', '--receiver-url', 'https://a.test/?x=1']],
  ])('exits with 2 when %s has a query', async (flag, args) => {
    const ended = await tabwire(['contract', 'check', ...args])
    expect(ended).toMatchObject({ code: 2, stdout: '' })
    expect(ended.stderr).toContain(`${flag} must end with a path, without a query or a fragment`)
  })

  test('ignores TABWIRE_RECEIVER_URL without --base-url', async () => {
    const env = { TABWIRE_RECEIVER_URL: 'https://127.0.0.1:1', TABWIRE_WAIT: '1' }
    const { code, stdout } = await tabwire(['contract', 'check', '--only', 'deliveries/ping'], { env })
    expect(code).toBe(0)
    expect(stdout).toContain('✓ ping  a ping arrives, signed')
  })

  test('exits with 3 and cites the section when a response breaks the specification', async ({
    onTestFinished,
  }) => {
    const { baseUrl, apiKey } = await openForeignService({ locations: () => ({ count: 2 }) }, onTestFinished)
    const args = ['--base-url', baseUrl, '--api-key', apiKey, '--only', 'access/locations']
    const { code, stdout } = await tabwire(['contract', 'check', ...args])
    expect(code).toBe(3)
    expect(stdout).toContain('The response of GET /locations contains no list.')
    expect(stdout).toContain('Specification, section 4')
  })

  test.runIf(isSoak)(
    'passes a foreign service with its profile, and says which records stay there',
    async ({ onTestFinished }) => {
      const { baseUrl, apiKey, readKey } = await openForeignService(
        { invalid: (body) => (body.currency === 'EUR' ? undefined : 'currency') },
        onTestFinished,
      )
      const cwd = await emptyDirectory()
      const profile = {
        ...foreignProfile,
        push: { currency: 'EUR' },
        keys: { read: { env: 'ACME_READ_KEY' } },
      }
      await writeFile(join(cwd, 'acme.json'), JSON.stringify(profile))
      const args = [
        '--base-url',
        baseUrl,
        '--profile',
        'acme.json',
        '--skip',
        'retries',
        '--skip',
        'deliveries',
      ]
      const env = { TABWIRE_API_KEY: apiKey, ACME_READ_KEY: readKey }
      const { code, stdout, stderr } = await tabwire(['contract', 'check', ...args], { cwd, env })
      expect({ code, stderr }).toEqual({
        code: 0,
        // That of the deliveries, one for its secret, and one for an unknown event type, which this service accepts.
        stderr:
          'Webhook endpoints still registered there: 3. Delete them, or set paths.delete_endpoint in --profile for the next run.\n',
      })
      expect(stdout).toMatch(/✓ write_scope .*\n/)
      expect(stdout).toMatch(/, 0 failed, /)
    },
  )

  test.runIf(isSoak)('exits with 4 and one line when the key is missing or refused', async () => {
    const service = await serve()
    const target = ['contract', 'check', '--base-url', `${service.url}/v1`]
    const [none, wrong] = [
      await service.run(target),
      await service.run([...target, '--api-key', 'twk_wrong']),
    ]
    await service.stop()
    expect(none).toMatchObject({ code: 4, stdout: '' })
    expect(none.stderr).toBe(
      `Error: ${service.url}/v1 needs an API key: GET /locations returned 401. Pass one with --api-key.\n`,
    )
    expect(wrong).toMatchObject({ code: 4, stdout: '' })
    expect(wrong.stderr).toMatch(/^Error: The service refuses the API key: [^\n]*--api-key\.\n$/)
  })

  test.each([
    ['api-key', 'some.file'],
    ['api-key-file', 'some.file'],
    ['cacert', 'some.file'],
    ['receiver-url', 'https://127.0.0.1:1'],
  ])('--%s without --base-url exits with 2', async (name, value) => {
    const cwd = await emptyDirectory()
    await writeFile(join(cwd, 'some.file'), 'some-key')
    const ended = await tabwire(['contract', 'check', `--${name}`, value], { cwd })
    expect(ended).toMatchObject({ code: 2, stdout: '' })
    expect(ended.stderr).toContain(
      `Error: --${name} also needs --base-url: the URL of the implementation to test.`,
    )
  })

  test.each([
    [['--base-url', 'http://127.0.0.1:1/v1'], 1, 'http://127.0.0.1:1/v1 did not respond'],
    [
      ['--base-url', 'https://ci:secret@127.0.0.1:1/v1'],
      2,
      '--base-url must not contain a user name or a password, because reports contain the URL.',
    ],
    [
      ['--base-url', 'nowhere'],
      2,
      '--base-url must be an http: or https: URL, got "nowhere". Did you mean https://nowhere?',
    ],
    [
      ['--receiver-url', 'http://example.com'],
      2,
      '--receiver-url must be an https: URL, got "http://example.com".',
    ],
    [
      ['--base-url', 'http://127.0.0.1:1/v1', '--profile', 'no-such.json'],
      2,
      'Error: Cannot read no-such.json: no such file.',
    ],
    [
      ['--base-url', 'https://127.0.0.1:1/v1', '--cacert', 'empty.pem'],
      2,
      'Error: --cacert must be a certificate of an authority in PEM form, got empty.pem.',
    ],
    [
      ['--only', 'nothing'],
      2,
      'Error: --only must be a case or group, got "nothing". Groups: requests, access, checks, conflicts, endpoints, deliveries, retries. The report lists the cases.',
    ],
  ])('%j exits with %i and prints the reason', async (args, code, message) => {
    const cwd = await emptyDirectory()
    await writeFile(join(cwd, 'empty.pem'), '')
    const ended = await tabwire(['contract', 'check', ...args], { cwd })
    expect(ended.code).toBe(code)
    expect(ended.stderr).toContain(message)
  })
})
