import { readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { verify } from '../../src/signature/index.ts'
import { secret, vectors } from '../signature/vectors.ts'
import { emptyDirectory, spawnProcess, tabwire } from '../support/cli.ts'
import { startReceiver } from '../support/https-receiver.ts'
import { isInstalled } from '../support/programs.ts'

const env = { TABWIRE_SECRET: secret }

/** Quotes, a percent sign, a newline, text beyond ASCII, and no text at all. */
const bodies: [what: string, body: Buffer][] = [
  [
    'quotes, newlines and text beyond ASCII',
    Buffer.from(`{"note":"it's \\"Jalapeño\\" 🌶 100%s $HOME \`id\`"}\r\n\n`),
  ],
  ['a NUL byte', Buffer.from(`{"note":"it's 100%d"}\u0000 日本\n`)],
  [
    'bytes that are no UTF-8, and an @ in front',
    Buffer.from([0x40, 0xff, 0x25, 0x73, 0x27, 0x31, 0x5c, 0x0a]),
  ],
  ['a hyphen in front, and a blank without width', Buffer.from('-n 7\u200b')],
  ['nothing', Buffer.alloc(0)],
  [
    'a byte-order mark, marks of direction, a joiner and separators of lines',
    Buffer.from('\ufeff{"note":"a\u200f7 b\u202e 👩\u200d🍳\u2028 \u0085\t\u001b[31m 50%"}\r\n'),
  ],
]
const hasCurl = isInstalled('curl') && process.platform !== 'win32'

describe.concurrent('tabwire sign', () => {
  test.each(vectors)(
    'signs $name like OpenSSL, offline and without a data directory',
    async ({ t, payload, v1 }) => {
      const cwd = await emptyDirectory()
      const ended = await tabwire(['sign', '--timestamp', String(t)], { cwd, env, input: payload })
      expect(ended).toEqual({ code: 0, signal: null, stdout: `t=${t},v1=${v1}\n`, stderr: '' })
      expect(await readdir(cwd)).toEqual([])
    },
  )

  test('verify accepts the output of sign', async () => {
    const [, body] = bodies[2] ?? []
    const input = body ?? ''
    const { stdout } = await tabwire(['sign'], { env, input })
    expect(await tabwire(['verify', '--header', stdout.trim()], { env, input })).toMatchObject({ code: 0 })
  })

  test('signs a file with the current time, and --json names the header', async () => {
    const cwd = await emptyDirectory()
    await writeFile(join(cwd, 'body.json'), '{"id":"evt_1"}')
    const args = ['sign', '--secret', secret, '--body', 'body.json', '--service-name', 'Acme', '--json']
    const { stdout } = await tabwire(args, { cwd })
    const report = JSON.parse(stdout) as { header: string; value: string }
    expect(report.header).toBe('X-Acme-Signature')
    expect(verify({ payload: '{"id":"evt_1"}', header: report.value, secret })).toMatchObject({ ok: true })
    expect(stdout).not.toContain(secret)
  })

  test.each([
    [
      ['sign'],
      { input: 'x' },
      'Error: No signing secret. Pass --secret-file FILE or --secret SECRET, or set TABWIRE_SECRET.',
    ],
    [['sign', '--timestamp', '1960-01-01'], { env, input: 'x' }, '--timestamp must not be before 1970.'],
    [
      ['sign', '--service-name', 'A B'],
      { env, input: 'x' },
      '--service-name must be 1 to 64 letters, digits and hyphens, without a hyphen at either end, got "A B".',
    ],
  ])('exits with 2 for %j', async (args, options, message) => {
    const { code, stdout, stderr } = await tabwire(args, options)
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr).toContain(message)
    expect(stderr).not.toContain(secret)
  })

  test('--curl trusts the local authority for HTTPS on this machine, and for no other URL', async () => {
    const cwd = await emptyDirectory()
    const commandFor = async (url: string) =>
      (await tabwire(['sign', '--curl', url], { cwd, env, input: '{}' })).stdout
    expect(await commandFor('https://localhost:8443/')).not.toContain('--cacert')
    await tabwire(['certs', 'create', 'localhost'], { cwd })
    expect(await commandFor('https://localhost:8443/')).toContain(
      // A backslash needs quotes in a shell.
      process.platform === 'win32' ? " --cacert '.tabwire\\ca\\ca.pem' " : ' --cacert .tabwire/ca/ca.pem ',
    )
    expect(await commandFor('http://localhost:8443/')).not.toContain('--cacert')
    expect(await commandFor('https://shop.example/')).not.toContain('--cacert')
  })

  test.skipIf(!hasCurl)('--curl prints a command that fails when the receiver refuses', async () => {
    const receiver = await startReceiver({ answer: 400 })
    const { stdout } = await tabwire(['sign', '--curl', receiver.url], { env, input: '{}' })
    const { code, stderr } = await (await spawnProcess('sh', ['-s'], { input: stdout })).ended
    expect(code).toBe(22)
    expect(stderr).toContain('400')
  })

  test.skipIf(!hasCurl).each(bodies)(
    '--curl prints a command that sends the exact bytes: %s',
    async (_what, body) => {
      const receiver = await startReceiver()
      const url = `${receiver.url}it's/a?b=[1]&c={d,e}`
      // As narrow as a terminal, which must not wrap it.
      const narrow = { ...env, COLUMNS: '60' }
      const { stdout } = await tabwire(['sign', '--curl', url], { env: narrow, input: body })
      expect(stdout).not.toContain(secret)
      expect(await spawnProcess('sh', ['-s'], { input: stdout }).then(({ ended }) => ended)).toMatchObject({
        code: 0,
        stderr: '',
      })
      const [request] = receiver.requests
      expect(request).toMatchObject({ method: 'POST', headers: { 'content-type': 'application/json' } })
      expect(request?.body).toEqual(body)
      expect(
        verify({ payload: body, header: request?.headers['x-service-signature'], secret }),
      ).toMatchObject({ ok: true })
      await receiver.close()
    },
  )
})
