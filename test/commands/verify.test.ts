import { readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { secret, vectors } from '../signature/vectors.ts'
import { startReceiver } from '../support/https-receiver.ts'
import { checkBody, emptyDirectory, startService, tabwire, type RunOptions } from '../support/cli.ts'

// OpenSSL made it: see vectors.ts.
const [{ t, payload, v1 }] = vectors
const header = `t=${t},v1=${v1}`

let cwd: string
beforeAll(async () => {
  cwd = await emptyDirectory()
  await writeFile(join(cwd, 'body.json'), payload)
})

/** Verifies what OpenSSL signed, at the time at which it did, with whatever is to be different. */
const verify = (args: readonly string[], options: RunOptions = {}) => {
  const given = { '--secret': secret, '--header': header, '--now': String(t) }
  const defaults = Object.entries(given).filter(
    ([flag]) => !args.includes(flag) && !(options.env && flag === '--secret'),
  )
  return tabwire(['verify', ...defaults.flat(), ...args], { cwd, ...options })
}

describe.concurrent('tabwire verify', () => {
  test('accepts what OpenSSL signed, from a file or standard input, and writes no file', async () => {
    const ended = {
      code: 0,
      signal: null,
      stdout: '✓ The signature is valid. It was made 0 s ago.\n',
      stderr: '',
    }
    expect(await verify(['--body', 'body.json'])).toEqual(ended)
    expect(await verify([], { input: payload })).toEqual(ended)
    expect(await readdir(cwd)).toEqual(['body.json'])
  })

  test.each(['--request', '--delivery', '--many'])('refuses --body together with %s', async (flag) => {
    const args = ['verify', '--secret', secret, '--body', 'body.json', flag, 'other']
    expect(await tabwire(args, { cwd })).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/--body.*not both/) as string,
    })
  })

  test('exits with 3 and names an additional newline', async () => {
    const { code, stdout, stderr } = await verify(['--body', '-'], { input: `${payload}\n` })
    expect({ code, stderr }).toEqual({ code: 3, stderr: '' })
    expect(stdout).toMatch(/^✗ signature_mismatch: .*\n {2}trailing_newline: .*echo.*\n$/)
    expect(stdout).not.toContain(secret)
  })

  test('--json names a reserialised body, and a secret without its prefix', async () => {
    const pretty = await verify(['--json'], { input: JSON.stringify(JSON.parse(payload), null, 2) })
    expect(pretty.code).toBe(3)
    expect(JSON.parse(pretty.stdout)).toMatchObject({
      ok: false,
      code: 'signature_mismatch',
      mistake: 'json_reserialised',
    })
    const bare = secret.replace('whsec_', '')
    const other = await verify(['--json', '--secret', bare], { input: payload })
    expect(JSON.parse(other.stdout)).toMatchObject({ mistake: 'secret_without_prefix' })
    expect(other.stdout).not.toContain(bare)
  })

  test('applies a tolerance of 300 s by default, which can be 0, in both directions', async () => {
    const at = async (seconds: number, ...more: string[]) =>
      (await verify(['--now', String(t + seconds), ...more], { input: payload })).code
    const zero = ['--tolerance', '0']
    expect(await Promise.all([at(300), at(301), at(-301), at(0, ...zero), at(1, ...zero)])).toEqual([
      0, 3, 3, 0, 3,
    ])
  })

  test('--now accepts an ISO time, and is the current time by default', async () => {
    const iso = new Date((t + 61) * 1000).toISOString()
    expect((await verify(['--now', iso], { input: payload })).stdout).toContain('It was made 61 s ago')
    const late = await tabwire(['verify', '--secret', secret, '--header', header, '--json'], {
      input: payload,
    })
    expect(JSON.parse(late.stdout)).toMatchObject({ code: 'timestamp_too_old' })
    for (const wrong of ['yesterday', '1.5', '12/25/2020']) {
      const never = await verify(['--now', wrong], { input: payload })
      expect(never.code).toBe(2)
      expect(never.stderr).toContain(`--now must be Unix seconds or an ISO 8601 time, got "${wrong}".`)
    }
    const milliseconds = await verify(['--now', `${t}000`], { input: payload })
    expect(milliseconds).toMatchObject({ code: 2, stdout: '' })
    expect(milliseconds.stderr).toMatch(
      /^Error: --now is in the year \d{5}\. Pass Unix seconds, not milliseconds/,
    )
    expect((await verify(['--now', '9999-12-31T23:59:59Z'], { input: payload })).code).toBe(3)
    const local = await verify(['--now', '2026-11-21T18:00:00'], { input: payload })
    expect(local.code).toBe(2)
    expect(local.stderr).toBe(
      'Error: --now must end with Z or an offset such as +01:00, because local times depend on the machine, got "2026-11-21T18:00:00". Example: 2026-11-21T18:00:00Z. Run `tabwire verify --help`.\n',
    )
  })

  test('takes the secret from TABWIRE_SECRET, and never prints it', async () => {
    const right = await verify([], { input: payload, env: { TABWIRE_SECRET: secret } })
    expect(right).toMatchObject({ code: 0, stderr: '' })
    const padded = await verify([], { input: payload, env: { TABWIRE_SECRET: ` ${secret}` } })
    expect(padded.code).toBe(3)
    expect(padded.stdout).toContain('secret_padded')
    expect(padded.stdout + padded.stderr).not.toContain(secret)
  })

  test('exits with 2 without a secret or header, or with an empty secret', async () => {
    const none = await tabwire(['verify', '--header', header], { input: payload })
    expect(none).toMatchObject({
      code: 2,
      stdout: '',
      stderr:
        'Error: No signing secret. Pass --secret-file FILE or --secret SECRET, or set TABWIRE_SECRET.\n',
    })
    const both = await tabwire(['verify', '--json', '--secret', secret], { input: payload })
    expect(JSON.parse(both.stdout)).toMatchObject({
      error: { code: 'usage', message: expect.stringContaining('--header') as string },
    })
    const empty = await verify(['--secret', ''], { input: payload })
    expect(empty).toMatchObject({ code: 2, stdout: '' })
  })

  test('accepts a raw request, and finds the signature under another header name', async () => {
    const request = (name: string) =>
      `POST /hooks HTTP/1.1\r\nHost: a\r\n${name}: ${header}\r\n\r\n${payload}`
    const run = (input: string, ...more: string[]) =>
      tabwire(['verify', '--secret', secret, '--now', String(t), '--request', '-', ...more], { input })
    expect((await run(request('x-service-signature'))).code).toBe(0)
    expect((await run(request('X-Acme-Signature'), '--service-name', 'Acme')).code).toBe(0)
    const other = await run(request('X-Signature'), '--json')
    expect(other.code).toBe(3)
    expect(JSON.parse(other.stdout)).toMatchObject({ code: 'missing_header', mistake: 'header_other_name' })
    const none = await run('soup')
    expect(none).toMatchObject({ code: 2, stdout: '' })
    expect(none.stderr).toContain('--request: standard input is not an HTTP request.')
  })

  test('--many prints a line for each signature, and totals at the end', async () => {
    const line = (change: object) => JSON.stringify({ header, body: payload, ...change })
    const input = [
      line({}),
      line({ body: undefined, body_base64: Buffer.from(payload).toString('base64') }),
      '',
      line({ body: `${payload}\n` }),
      line({ header: null }),
    ].join('\n')
    const many = ['verify', '--secret', secret, '--now', String(t), '--many', '-']
    const { code, stdout } = await tabwire([...many, '--json'], { input })
    expect(code).toBe(3)
    const lines = stdout
      .trim()
      .split('\n')
      .map((text) => JSON.parse(text) as object)
    expect(lines.slice(2)).toMatchObject([
      { line: 4, ok: false, mistake: 'trailing_newline' },
      { line: 5, ok: false, code: 'missing_header' },
      { totals: { total: 4, right: 2, wrong: 2, mistakes: { trailing_newline: 1, missing_header: 1 } } },
    ])
    const plain = await tabwire(many, { input })
    expect(plain.stdout).toMatch(/\n4 verified: 2 valid, 2 invalid\n {2}trailing_newline {2}1\n/)
    expect(plain.stdout).not.toContain(secret)
    expect((await tabwire(many, { input: line({}) })).code).toBe(0)
    // As Windows PowerShell writes UTF-8.
    expect((await tabwire(many, { input: `\ufeff${line({})}` })).code).toBe(0)
    for (const bad of ['', '{}', 'soup', '[1]', line({ header: 5 })])
      expect((await tabwire(many, { input: bad })).code).toBe(2)
  })

  test('names UTF-16 input, such as from > of PowerShell, in a body, a request and a file for --many', async () => {
    const utf16 = (text: string) => Buffer.from(`\ufeff${text}\r\n`, 'utf16le')
    const body = await verify(['--body', '-'], { input: utf16(payload) })
    expect(body.code).toBe(3)
    expect(body.stdout).toMatch(
      /\n {2}body_utf16: The payload is UTF-16\. Windows PowerShell .* `>`.*curl -o/,
    )
    const capture = await tabwire(['verify', '--secret', secret, '--request', '-'], {
      input: utf16(`POST /hooks HTTP/1.1\r\nX-Service-Signature: ${header}\r\n\r\n${payload}`),
    })
    expect(capture).toMatchObject({ code: 2, stdout: '' })
    expect(capture.stderr).toMatch(/^Error: --request: standard input is UTF-16\. Windows PowerShell /)
    const many = await tabwire(['verify', '--secret', secret, '--many', '-'], {
      input: utf16(JSON.stringify({ header, body: payload })),
    })
    expect(many).toMatchObject({ code: 2, stdout: '' })
    expect(many.stderr).toMatch(/^Error: --many: the file is UTF-16\. Windows PowerShell /)
  })

  test('detects the secret of another endpoint, and prints neither secret', async () => {
    const { code, stdout } = await verify(['--secret', 'whsec_mine', '--secret', secret], { input: payload })
    expect(code).toBe(3)
    expect(stdout).toContain('secret_of_another_endpoint')
    expect(stdout).not.toMatch(/whsec_mine/)
    expect(stdout).not.toContain(secret)
  })

  test('exits with 3 for a malformed header, which cannot control the terminal', async () => {
    const { code, stdout } = await verify(['--header', 't=1\u001b[2J'], { input: payload })
    expect(code).toBe(3)
    expect(stdout).toMatch(/^✗ malformed_header: /)
    expect(stdout).not.toContain('\u001b')
  })
})

test('verify takes the body of a delivery from the service', async () => {
  const service = await startService(['--allow-http-loopback'])
  const receiver = await startReceiver()
  const { signing_secret } = await service.json<{ signing_secret: string }>(
    'endpoints',
    'create',
    receiver.url,
    '--events',
    'all',
  )
  await service.call('PUT', '/v1/checks/external/a', checkBody())
  const [received] = await receiver.received(1)
  const { data } = await service.json<{ data: { id: string }[] }>('deliveries', 'list')
  const signature = String(received?.headers['x-service-signature'])
  const run = (secretGiven: string) =>
    service.run(['verify', '--secret', secretGiven, '--header', signature, '--delivery', data[0]?.id ?? ''])
  try {
    expect(await run(signing_secret)).toMatchObject({ code: 0, stderr: '' })
    expect((await run(signing_secret.slice(6))).stdout).toContain('secret_without_prefix')
    const asSent = (...more: string[]) => service.run(['verify', '--delivery', data[0]?.id ?? '', ...more])
    expect(await asSent('--secret', signing_secret)).toMatchObject({ code: 0, stderr: '' })
    expect(await asSent('--secret', 'whsec_mine', '--now', '1')).toMatchObject({ code: 3, stderr: '' })
    expect((await asSent('--secret', signing_secret, '--now', '1')).stdout).toContain('clock_off')
  } finally {
    await receiver.close()
    await service.stop()
  }
})
