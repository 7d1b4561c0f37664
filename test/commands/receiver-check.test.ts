import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { createSecureServer } from 'node:http2'
import { connect, createServer, type AddressInfo } from 'node:net'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Parser } from 'tap-parser'
import { describe, expect, test } from 'vitest'
import { isSoak } from '../soak/seeded.ts'
import { z } from 'zod'
import type { ConformanceReport } from '../../src/conformance/report.ts'
import { verifyByWebCrypto } from '../../src/cli/demo.ts'
import { openAuthority } from '../../src/certificates/authority.ts'
import { secret, startReference } from '../conformance/receiver/check.ts'
import { readJson } from '../findings/situations.ts'
import { startReceiver, type Handle } from '../support/https-receiver.ts'
import { emptyDirectory, fixtures, tabwire } from '../support/cli.ts'

const node = (file: string) => startReference([process.execPath, join(fixtures, 'receivers', file)])
const check = (url: string, ...args: string[]) =>
  tabwire(['receiver', 'check', url, '--secret', secret, ...args])

/** Verifies by other code than the suite signs with. */
const verifying: Handle = (response, { body, headers }) => {
  const header = String(headers['x-acme-signature'] ?? '')
  void verifyByWebCrypto(body, header, secret).then((right) => response.writeHead(right ? 204 : 400).end())
}

describe.concurrent('tabwire receiver check', () => {
  test('exits with 0 for a correct receiver, prints no progress into a pipe, and never prints the secret', async () => {
    const { url } = await node('node.mjs')
    const { code, stdout, stderr } = await check(url)
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(stdout).toMatch(/^receiver check http:\/\/127\.0\.0\.1:\d+\/\n\ncontrol\n {2}✓ answers_in_time /)
    expect(stdout).toMatch(/\n84 passed, 0 failed, 3 not checked {2}in \d+\.\d s\n$/)
    expect(stdout).not.toContain(secret)
  })

  test('exits with 3 for a wrong receiver, and names the consequence in production', async () => {
    const { url } = await node('wrong/ignores-the-future.mjs')
    const { code, stdout } = await check(url, '--only', 'from_the_future')
    expect(code).toBe(3)
    expect(stdout).toMatch(
      /✗ from_the_future .*\n {6}Accepted \(204\); expected a rejection \(4xx\)\.\n {6}The tolerance applies in both directions/,
    )
  })

  test('names one cause for a receiver that rejects everything, whichever cases were selected', async () => {
    const { url } = await node('wrong/has-another-secret.mjs')
    const { code, stdout, stderr } = await check(url, '--only', 'refuses')
    expect({ code, stderr }).toEqual({ code: 3, stderr: '' })
    expect(stdout).toContain(
      '✗ genuine_accepted  A valid delivery is accepted\n      Rejected (400); expected 2xx. Check the secret (--secret) and the header name X-Service-Signature (--service-name). If both are right, save',
    )
    expect(stdout).toMatch(/\n0 passed, 1 failed, \d+ not checked {2}in/)
  })

  test('exits with 1 when --state-url cannot be read, in every format', async () => {
    const { url } = await node('node.mjs')
    const junit = join(await emptyDirectory(), 'report.xml')
    const args = ['--only', 'converges', '--state-url', 'http://127.0.0.1:1/']
    const { code, stdout } = await check(url, ...args, '--junit', junit)
    expect(code).toBe(1)
    expect(stdout).toMatch(
      /✗ deduplicates .*\n(.*\n)*? {6}Cannot read --state-url: http:\/\/127\.0\.0\.1:1\/:/,
    )
    expect(stdout).toMatch(/\n6 passed, 0 failed, 3 errors {2}in/)
    expect(await readFile(junit, 'utf8')).toMatch(/<error message="Cannot read --state-url: /)
    const json = await check(url, ...args, '--json')
    expect(json.code).toBe(1)
    expect(JSON.parse(json.stdout)).toMatchObject({ ok: false, totals: { error: 3 } })
  })

  test('exits with 1 when no selected case was checked', async () => {
    const { url } = await node('node.mjs')
    const { code, stdout } = await check(url, '--only', 'converges')
    expect(code).toBe(1)
    expect(stdout).toContain('- 3 cases, deduplicates to ignores_forged\n')
    expect(stdout).toContain('Pass --state-url')
    expect(stdout).toMatch(
      /\n6 passed, 0 failed, 3 not checked {2}in .*\nNone of the requested cases was checked\.\n$/,
    )
  })

  test.each(['control', 'control/verifies_first'])(
    'refuses --skip %s, because other verdicts depend on it',
    async (name) => {
      const { code, stderr } = await check('http://127.0.0.1:1/', '--skip', name)
      expect(code).toBe(2)
      expect(stderr).toMatch(/--skip cannot skip control\/\w+: the verdicts of all other cases rest on it\./)
    },
  )

  test.runIf(isSoak)(
    'advises a 4xx when a receiver rejects with a crash, and exits with 3 with --strict',
    async () => {
      const { url } = await node('wrong/refuses-by-crashing.mjs')
      const { code, stdout } = await check(url, '--only', 'no_header', '--only', 'refuses_with_4xx')
      expect(code).toBe(0)
      expect(stdout).toContain('Failed (500) in forged_rejected, no_header; a 4xx is better.')
      expect((await check(url, '--only', 'refuses_with_4xx', '--strict')).code).toBe(3)
    },
  )

  test.runIf(isSoak)('checks a receiver for the event types that it is registered for', async () => {
    const { url } = await node('wrong/knows-payments-alone.mjs')
    expect((await check(url, '--only', 'accepts')).code).toBe(3)
    const events = 'payment.succeeded,payment.refunded,claim.created,feedback.received'
    const { code, stdout } = await check(url, '--only', 'accepts', '--events', events)
    expect(code).toBe(0)
    expect(stdout).toContain('Not checked: not in --events.')
  })

  test.runIf(isSoak)('reports by the published schema, as JUnit to a file, and as TAP', async () => {
    const { url } = await node('wrong/verifies-nothing.mjs')
    const late = await node('wrong/ignores-the-past.mjs')
    const file = join(await emptyDirectory(), 'report.xml')
    const json = await check(url, '--json', '--junit', file)
    const schema = z.fromJSONSchema(
      readJson(`${fixtures}conformance-report.schema.json`) as z.core.JSONSchema.JSONSchema,
    )
    const report = schema.parse(JSON.parse(json.stdout)) as ConformanceReport
    expect(report).toMatchObject({ ok: false, suite: 'receiver check', totals: { failed: 1, passed: 0 } })
    const tests = report.cases.length
    expect(await readFile(file, 'utf8')).toContain(
      `<testsuites tests="${tests}" failures="1" errors="0" skipped="${tests - 1}">`,
    )
    const tap = await check(url, '--tap', '--only', 'refuses/expired,accepts')
    expect(tap.code).toBe(2)
    const parsed = await check(late.url, '--tap', '--only', 'refuses/expired', '--only', 'accepts')
    expect(parsed.code).toBe(3)
    const events = Parser.parse(parsed.stdout) as [string, unknown][]
    const [, final] = events.find(([name]) => name === 'complete') ?? []
    const count = report.cases.filter(
      ({ group, id }) => ['control', 'accepts'].includes(group) || id === 'expired',
    ).length
    expect(final).toMatchObject({ ok: false, count, fail: 1 })
  })

  test('checks over HTTPS with the local authority, another service name and additional headers', async () => {
    const cwd = await emptyDirectory()
    const tls = await (await openAuthority(join(cwd, '.tabwire'))).issue(['127.0.0.1'])
    const receiver = await startReceiver({ tls, answer: verifying })
    const args = [
      '--service-name',
      'Acme',
      '-H',
      'Authorization: Bearer abc',
      '--only',
      'event_check_created',
    ]
    const run = (...more: string[]) =>
      tabwire(['receiver', 'check', receiver.url, '--secret', secret, ...args, ...more], { cwd })
    try {
      expect((await run()).code).toBe(0)
      expect(receiver.requests.at(-1)?.headers).toMatchObject({
        authorization: 'Bearer abc',
        'user-agent': 'Acme-Webhooks/1.0',
      })
      const elsewhere = await emptyDirectory()
      const distrusted = await run('--data-dir', elsewhere)
      expect(distrusted).toMatchObject({ code: 1, stdout: '' })
      expect(distrusted.stderr).toContain('--cacert')
      expect((await run('--data-dir', elsewhere, '--insecure')).code).toBe(0)
      const ca = join(cwd, '.tabwire', 'ca', 'ca.pem')
      expect((await run('--data-dir', elsewhere, '--cacert', ca)).code).toBe(0)
      const words = ['receiver', 'check', receiver.url, '--secret', secret, ...args, '--data-dir', elsewhere]
      expect((await tabwire(words, { env: { NODE_EXTRA_CA_CERTS: ca } })).code).toBe(0)
    } finally {
      await receiver.close()
    }
  })

  test.runIf(isSoak)(
    'judges the state with --state-url, and names the seed that repeats the run',
    { timeout: 180_000 },
    async () => {
      const program = fileURLToPath(
        new URL('../conformance/receiver/strangers/wrong/adds-every-payment.mjs', import.meta.url),
      )
      const { url } = await startReference([process.execPath, program])
      const view = `${url}checks/{external_check_id}?token=hidden`
      const { code, stdout, stderr } = await check(
        url,
        '--only',
        'converges',
        '--state-url',
        view,
        '--seed',
        '5',
      )
      expect(code).toBe(3)
      expect(stdout).toMatch(
        /✗ deduplicates .*\n {6}Two sequences of the same events end in different states: .*paid_by_card/,
      )
      expect(stdout).toMatch(/Repeat with --seed 5\.\n/)
      expect(stdout).toMatch(
        /✓ orders .*\n {6}\d+ sequences of 14 deliveries ended in the same state \(seed 5\)\.\n/,
      )
      expect(stdout + stderr).not.toContain('hidden')
    },
  )

  test.runIf(isSoak)('applies the --tolerance of the receiver', async () => {
    const { url } = await node('wrong/tolerates-a-minute.mjs')
    const { code } = await check(url, '--tolerance', '60', '--skip', 'behaves')
    expect(code).toBe(0)
  })

  test('exits with 1 and the address when nothing listens', async () => {
    const { code, stdout, stderr } = await check('http://127.0.0.1:1/')
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
    expect(stderr).toBe(
      `Error: Cannot reach http://127.0.0.1:1: connection refused (ECONNREFUSED). Start the receiver, or correct the URL.\n`,
    )
  })

  test('judges a TLS receiver whose server answers plain HTTP with 400', async () => {
    const cwd = await emptyDirectory()
    const tls = await (await openAuthority(join(cwd, '.tabwire'))).issue(['127.0.0.1'])
    const receiver = await startReceiver({ tls, answer: 400 })
    // As nginx does on its TLS port. A TLS record begins with 22.
    const server = createServer((socket) => {
      socket.once('data', (first: Buffer) => {
        if (first[0] !== 22) return socket.end('HTTP/1.1 400 Bad Request\r\nconnection: close\r\n\r\n')
        const behind = connect(receiver.port, '127.0.0.1')
        behind.on('error', () => socket.destroy()).write(first)
        return socket.pipe(behind).pipe(socket)
      })
      socket.on('error', () => {})
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const { code, stderr, stdout } = await check(
      `https://127.0.0.1:${(server.address() as AddressInfo).port}/`,
      '--insecure',
      '--json',
    )
    expect({ code, stderr }).toMatchObject({ code: 3 })
    expect(stdout).toContain('genuine_accepted')
    await receiver.close()
    server.close()
  })

  test('exits with 1 and one line that names the scheme that the server speaks', async () => {
    const plain = await node('node.mjs')
    const wantsTls = await check(plain.url.replace('http:', 'https:'))
    expect(wantsTls).toMatchObject({ code: 1, stdout: '' })
    expect(wantsTls.stderr).toMatch(
      /^Error: https:\/\/127\.0\.0\.1:\d+ uses plain HTTP, not TLS\. Try http:\/\/127\.0\.0\.1:\d+\/\n$/,
    )
    const cwd = await emptyDirectory()
    const tls = await (await openAuthority(join(cwd, '.tabwire'))).issue(['127.0.0.1'])
    const receiver = await startReceiver({ tls, answer: verifying })
    try {
      const wantsPlain = await check(receiver.url.replace('https:', 'http:'), '--json')
      expect(wantsPlain.code).toBe(1)
      const { error } = JSON.parse(wantsPlain.stdout) as { error: { message: string } }
      expect(error.message).toMatch(/ uses TLS, not plain HTTP\. Try https:\/\/127\.0\.0\.1:\d+\//)
    } finally {
      await receiver.close()
    }
  })

  test('exits with 1 when the receiver accepts HTTP/2 only, as deliveries do not', async ({
    onTestFinished,
  }) => {
    const cwd = await emptyDirectory()
    const tls = await (await openAuthority(join(cwd, '.tabwire'))).issue(['127.0.0.1'])
    const server = createSecureServer({ ...tls, allowHTTP1: false })
    onTestFinished(() => void server.close())
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const url = `https://127.0.0.1:${(server.address() as AddressInfo).port}`
    const { code, stderr } = await check(`${url}/hook`)
    expect(code).toBe(1)
    expect(stderr).toMatch(
      /^Error: Cannot reach https:\S+: TLS handshake failed: it does not accept HTTP\/1\.1 \(\w+\)\. Correct the URL\./,
    )
  })

  test.runIf(isSoak)('exits with 1 when the server does not speak HTTP', async () => {
    const server = createServer((socket) => socket.end('220 mail.example.com ESMTP\r\n'))
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    try {
      const { code, stderr } = await check(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`)
      expect(code).toBe(1)
      expect(stderr).toMatch(
        /^Error: Cannot reach .*: response is not HTTP \(HPE_.*\)\. Correct the URL.*\n$/,
      )
    } finally {
      server.close()
    }
  })

  test.each([
    [['http://example.com/'], 'uses plain HTTP, which is allowed only on this machine'],
    [['ftp://localhost/'], 'URL must be an http: or https: URL such as'],
    [['3000', '--only', 'everything'], '--only must be a case or group, got "everything".'],
    [['3000', '--only', 'behaves', '--skip', 'behaves'], 'leave no case'],
    [
      ['3000', '-H', 'x-service-signature: a'],
      '--add-header must not be x-service-signature, because the check sets it',
    ],
    [['3000', '-H', 'nonsense'], "--add-header must be a header such as 'Name: value'."],
    [
      ['3000', '--events', 'check.creatd'],
      '--events must be event types or all, got "check.creatd". Did you mean check.created?',
    ],
    [['3000', '--tap', '--json'], 'not both.'],
    [['3000', '--state-url', '3000/{id}'], '--state-url has the unknown placeholder {id}'],
    [['3000', '--state-url', 'http://example.com/'], 'uses plain HTTP'],
    [
      ['3000', '--state-url', '3000', '--state-header', 'nonsense'],
      "--state-header must be a header such as 'Name: value'.",
    ],
    [['3000', '--seed', 'x'], '--seed'],
  ])('exits with 2 for %j', async (args, words) => {
    const { code, stdout, stderr } = await check(...(args as [string]))
    expect(code).toBe(2)
    expect(stdout + stderr).toContain(words)
  })

  test('creates the folder of a report, and exits with 1 when the report cannot be written', async () => {
    const { url } = await node('node.mjs')
    const directory = await emptyDirectory()
    await writeFile(join(directory, 'file'), '')
    const write = (path: string) => check(url, '--only', 'no_header', '--junit', join(directory, path))
    const { code, stderr } = await write('file/report.xml')
    expect(code).toBe(1)
    expect(stderr).toContain('--junit: cannot write the report to')
    expect(await write('new/folder/report.xml')).toMatchObject({ code: 0, stderr: '' })
    expect(await readFile(join(directory, 'new/folder/report.xml'), 'utf8')).toContain('<testsuite')
  })

  test('checks the file of a report before the run, and keeps the results when writing it fails', async () => {
    const cwd = await emptyDirectory()
    const file = join(cwd, 'report.xml')
    const receiver = await startReceiver({
      answer: (response) => void mkdir(file, { recursive: true }).then(() => response.writeHead(500).end()),
    })
    const early = await check(receiver.url, '--junit', cwd)
    expect(early).toMatchObject({ code: 1, stdout: '' })
    expect(early.stderr).toContain('--junit: cannot write the report to')
    expect(receiver.requests).toEqual([])
    const { code, stdout, stderr } = await check(receiver.url, '--junit', file, '--only', 'accepts')
    await receiver.close()
    expect(code).toBe(3)
    expect(stdout).toMatch(/\n0 passed, 1 failed, \d+ not checked {2}in/)
    expect(stderr).toBe(`Error: --junit: cannot write the report to ${file} (EISDIR).\n`)
  })

  test('reads one header per line of TABWIRE_STATE_HEADER', async () => {
    const receiver = await startReceiver({ answer: verifying })
    const state = await startReceiver({ answer: 404 })
    const about = ['--service-name', 'Acme', '--only', 'converges', '--state-url', state.url]
    const env = { TABWIRE_SECRET: secret, TABWIRE_STATE_HEADER: 'Authorization: Bearer own\nX-Tenant: one' }
    await tabwire(['receiver', 'check', receiver.url, ...about], { env })
    expect(state.requests.at(-1)?.headers).toMatchObject({ authorization: 'Bearer own', 'x-tenant': 'one' })
  })

  test('reads one header per line of TABWIRE_ADD_HEADER', async () => {
    const receiver = await startReceiver({ answer: verifying })
    const words = [
      'receiver',
      'check',
      receiver.url,
      '--service-name',
      'Acme',
      '--only',
      'event_check_created',
    ]
    const env = { TABWIRE_SECRET: secret, TABWIRE_ADD_HEADER: 'Accept: text/html, */*\nX-Tenant: one' }
    const { code, stderr } = await tabwire(words, { env })
    await receiver.close()
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(receiver.requests.at(-1)?.headers).toMatchObject({ accept: 'text/html, */*', 'x-tenant': 'one' })
  })

  test.runIf(isSoak)('exits with 2 for a certificate file without a certificate', async () => {
    const file = join(await emptyDirectory(), 'no.pem')
    await writeFile(file, 'soup')
    expect((await check('3000', '--cacert', file)).code).toBe(2)
  })
})

describe.concurrent('tabwire receiver example', () => {
  test.each(['csharp', 'go', 'java', 'node', 'php', 'python', 'ruby'])(
    'prints a receiver in %s',
    async (language) => {
      const { code, stdout } = await tabwire(['receiver', 'example', language])
      expect(code).toBe(0)
      expect(stdout).toContain('raw bytes')
      expect(stdout.split('\n').length).toBeLessThan(80)
    },
  )

  test('exits with 2 for an unknown language', async () => {
    const { code, stderr } = await tabwire(['receiver', 'example', 'cobol'])
    expect(code).toBe(2)
    expect(stderr).toContain('csharp')
  })
})
