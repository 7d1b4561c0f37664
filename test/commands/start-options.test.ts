import { access, readdir, readFile } from 'node:fs/promises'
import { get } from 'node:http'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { isSoak } from '../soak/seeded.ts'
import type { PingReport } from '../../src/client.ts'
import { checkBody, emptyDirectory, startService, tabwire, type RunningService } from '../support/cli.ts'
import { check } from '../support/simulator.ts'
import { startReceiver } from '../support/https-receiver.ts'
import { expectMode } from '../support/file-mode.ts'

describe.concurrent('options of tabwire start', () => {
  test.skipIf(process.platform === 'win32')(
    '--in-memory writes no store, --api-key sets the key, and other commands find both',
    async () => {
      const service = await startService(['--in-memory', '--api-key', 'twk_ci'])
      expect(service.key).toBe('twk_ci')
      expect(await service.json('locations')).toMatchObject({ data: [{}, {}] })
      expect((await readdir(join(service.cwd, '.tabwire'))).sort()).toEqual(['.gitignore', 'run.json'])
      await service.stop()
      expect(await readdir(join(service.cwd, '.tabwire'))).toEqual(['.gitignore'])
    },
  )

  test.runIf(isSoak)(
    '--in-memory runs without a writable directory, and warns that other commands cannot find it',
    async () => {
      const service = await startService(['--in-memory', '--data-dir', '/dev/null/tabwire'])
      expect((await service.call('GET', '/v1/locations')).status).toBe(200)
      const { code, stderr } = await service.stop()
      expect(stderr).toBe(
        'Warning: Cannot write to the data directory. Other commands need --url and --api-key to find this service.\n',
      )
      expect(code).toBe(0)
    },
  )

  test.runIf(isSoak)(
    '--rate-limit answers 429 above the limit, which a command prints, and refuses an invalid rate',
    async () => {
      const service = await startService(['--in-memory', '--rate-limit', '1/h'])
      await service.json('checks', 'list')
      const { code, stderr } = await service.run(['checks', 'list'])
      expect(code).toBe(1)
      expect(stderr).toMatch(
        /^Error: 429 rate_limited: Rate limit of this API key exceeded: 1 request per 3600 seconds\. Retry after \d+ s/,
      )
      await service.stop()
      for (const wrong of ['0', '5/d', 'fast']) {
        const refused = await tabwire(['start', '--in-memory', '--rate-limit', wrong])
        expect(refused).toMatchObject({ code: 2, stdout: '' })
        expect(refused.stderr).toContain(
          `--rate-limit must be a rate of at least 1 request, such as 10/s, 600/m or 5000/h, got "${wrong}".`,
        )
      }
    },
    60_000,
  )

  test('--order-by sets the ordering field, also for trigger, and refuses other fields', async () => {
    const service = await startService(['--in-memory'], { env: { TABWIRE_ORDER_BY: 'version' } })
    const push = (version: number, number: string) =>
      service.call('PUT', '/v1/checks/external/a', { ...check(), version, table: { number } })
    await push(2, '2')
    await push(1, '1')
    expect(await service.json('checks', 'show', 'a')).toMatchObject({ table: { number: '2' }, revision: 2 })
    await service.json('trigger', 'check.updated', '--check', 'a')
    expect(await service.json('checks', 'show', 'a')).toMatchObject({ revision: 3 })
    await service.stop()
    for (const wrong of ['items', 'a.b', '']) {
      const refused = await tabwire(['start', '--in-memory', '--order-by', wrong])
      expect(refused).toMatchObject({ code: 2, stdout: '' })
      expect(refused.stderr).toContain(`got ${JSON.stringify(wrong)}`)
    }
  })

  test.runIf(isSoak)('--service-name sets the signature header that receivers get', async () => {
    const receiver = await startReceiver()
    const service = await startService([
      '--service-name',
      'x-acme-signature',
      '--allow-http-loopback',
      '--in-memory',
    ])
    await pinged(service, receiver.url)
    const [ping] = receiver.requests
    expect(ping?.rawHeaders).toContain('X-Acme-Signature')
    expect(ping?.headers).toMatchObject({
      'x-acme-signature': expect.stringMatching(/^t=\d+,v1=[0-9a-f]{64}$/) as string,
      'user-agent': 'Acme-Webhooks/1.0',
    })
    const { stderr } = await service.stop()
    expect(stderr).toMatch(/^Warning: --allow-http-loopback: .*HTTPS only\.\n$/)
    await receiver.close()
  })

  test('options can be set by the environment, and flags override it', async () => {
    const service = await startService([], {
      env: {
        TABWIRE_DATA_DIR: 'kept',
        TABWIRE_PORT: 'what --port says goes before this',
        TABWIRE_API_KEY: 'twk_from_environment',
        TABWIRE_STRICT: 'true',
        TABWIRE_ALLOWED_HOST: 'one.test,two.test',
      },
    })
    expect(service.key).toBe('twk_from_environment')
    await access(join(service.cwd, 'kept', 'credentials.json'))
    for (const [host, status] of Object.entries({ 'one.test': 200, 'two.test': 200, 'three.test': 403 }))
      expect(await statusFor(service.url, host)).toBe(status)
    const refused = await service.call('PUT', '/v1/checks/external/a', { ...checkBody(), surprise: 1 })
    expect(await refused.text()).toContain('is not a field of a check (strict mode)')
    await service.stop()
  })

  test('an invalid value in the environment exits with 2 and names its variable', async () => {
    const nonsense = await tabwire(['start', '--json'], { env: { TABWIRE_PORT: 'http' } })
    expect(nonsense).toMatchObject({ code: 2, stderr: '' })
    expect(JSON.parse(nonsense.stdout)).toEqual({
      error: {
        code: 'usage',
        message: 'TABWIRE_PORT must be a whole number, got "http". Run `tabwire start --help`.',
      },
    })
    const env = { TABWIRE_LIMIT: '5', TABWIRE_URL: 'localhost:4100' }
    const messageOf = async (args: string[]) => (await tabwire(args, { env })).stderr
    expect(await messageOf(['locations', '--limit', '0'])).toMatch(/^Error: --limit must be /)
    expect(await messageOf(['locations'])).toMatch(/^Error: TABWIRE_URL must be an http: or https: URL /)
  })

  test.each<[name: string, value: string, args: string[], said: string]>([
    ['TABWIRE_SINCE', '5m', ['deliveries', 'resend', 'dlv_1'], 'TABWIRE_SINCE needs --dead.'],
    ['TABWIRE_JSON', '1', ['report', '--tap'], 'Pass TABWIRE_JSON or --tap, not both.'],
    ['TABWIRE_REPEAT', '2', ['push', 'a.json', '--watch'], 'Pass TABWIRE_REPEAT or --watch, not both.'],
    ['TABWIRE_SINCE', '5m', ['deliveries', 'resend', '--since'], '--since needs a value.'],
  ])('%s=%s that does not fit %j is named', async (name, value, args, said) => {
    const { code, stdout, stderr } = await tabwire(args, { env: { [name]: value } })
    expect(code).toBe(2)
    expect(stdout + stderr).toContain(said)
  })

  test.each([
    ['start', 'TABWIRE_STRICT', 'on'],
    ['locations', 'TABWIRE_JSON', 'banana'],
    ['listen', 'TABWIRE_LISTEN_INSECURE', ' true'],
  ])('%s refuses %s=%s, which is neither true nor false', async (command, name, value) => {
    expect(await tabwire([command], { env: { [name]: value } })).toMatchObject({
      code: 2,
      stdout: '',
      stderr: `Error: ${name} must be true or false, got "${value}". Run \`tabwire ${command} --help\`.\n`,
    })
  })

  test('the variable of a switch may be empty, in capitals, or overridden by the flag', async () => {
    const env = { TABWIRE_STRICT: 'on', TABWIRE_TRACE: '', TABWIRE_IN_MEMORY: 'YES', TABWIRE_HTTPS: 'N' }
    const service = await startService(['--no-strict'], { env })
    expect(service.url).toMatch(/^http:/)
    expect((await readdir(join(service.cwd, '.tabwire'))).sort()).toEqual(['.gitignore', 'run.json'])
    const unknown = { ...checkBody(), surprise: 1 }
    expect((await service.call('PUT', '/v1/checks/external/a', unknown)).status).toBe(201)
    await service.stop()
  })

  test('--https serves with a certificate of the local authority, which the other commands trust', async () => {
    const service = await startService(['--https', '--in-memory'])
    expect(service.url).toMatch(/^https:/)
    expect(await service.json('locations')).toMatchObject({ data: [{}, {}] })
    const elsewhere = await tabwire(['locations', '--url', service.url, '--api-key', service.key])
    expect(elsewhere).toMatchObject({ code: 1, stdout: '' })
    expect(elsewhere.stderr).toMatch(/^Error: No service answers at https:.*certificate/)
    await service.stop()
  })

  test.runIf(isSoak)(
    'a certificate of tabwire certs is trusted, made before the start or after it',
    async () => {
      const cwd = await emptyDirectory()
      const service = await startService([], { cwd })
      const files = await service.json<{ cert: string; key: string }>('certs', 'create', 'localhost')
      await expectMode(join(cwd, files.key), 0o600)
      const [cert, key] = await Promise.all(
        [files.cert, files.key].map((file) => readFile(join(cwd, file), 'utf8')),
      )
      const receiver = await startReceiver({ tls: { cert: cert ?? '', key: key ?? '' } })
      const url = `https://localhost:${receiver.port}/`
      expect(await pinged(service, url)).toMatchObject({ outcome: 'succeeded', error: null })
      await service.stop()
      const again = await startService([], { cwd })
      expect(await pinged(again, url)).toMatchObject({ outcome: 'succeeded', error: null })
      await again.stop()
      await receiver.close()
    },
  )
})

async function pinged(service: RunningService, url: string): Promise<PingReport> {
  const created = await service.call('POST', '/v1/webhook-endpoints', { url, event_types: ['check.created'] })
  const { id } = (await created.json()) as { id: string }
  const report = await service.call('POST', `/v1/webhook-endpoints/${id}/test`)
  return (await report.json()) as PingReport
}

/** fetch sets the Host header itself, so this is asked for by hand. */
function statusFor(url: string, host: string): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    get(`${url}/_sim/health`, { headers: { host }, agent: false }, (response) => {
      response.resume().once('end', () => resolve(response.statusCode))
    }).once('error', reject)
  })
}
