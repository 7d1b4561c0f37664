import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { readdirSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { beforeAll, describe, expect, test } from 'vitest'
import { sampled } from '../soak/seeded.ts'
import { certificateAdvice } from '../../src/cli/doctor/receiver.ts'
import { curlCommand, PLACEHOLDER, shellWord, tabwireCommand } from '../../src/model/text/shell-command.ts'
import type { LoggedRequest } from '../../src/model/simulator/request-entry.ts'
import {
  deliveryCurl,
  eventCommand,
  receiverCheckCommand,
  requestCurl,
  verifyCommand,
} from '../../src/pages/browser/inspector/commands.ts'
import { checkBody, serve, tabwire, type RunningService } from '../support/cli.ts'
import { openHttpServer } from '../support/http-server.ts'

/** Each would do something in a shell that it is not quoted for; `ran` is the file that then appears. */
const hostile = [
  'https://a.example/;touch${IFS}ran',
  '$(touch ran)',
  '`touch ran`',
  "';touch ran;'",
  "'\\'';touch ran;'",
  '";touch ran;"',
  '& touch ran &',
  '| touch ran',
  '> ran',
  'a\ntouch ran\n',
  '\n',
  '\\',
  "\\'",
  '-rf',
  '--help',
  '--',
  '-',
  '',
  '~',
  '*',
  '{a,b}',
  '!!',
  '# comment',
  'a b\tc',
  '\u001b[201~touch ran\r',
  '\u001b]52;c;dG91Y2ggcmFu\u0007',
  '\u202etouch',
  '\u0085x\u200b',
  '%s%n\\101',
  '$HOME',
  'Crème brûlée 🍮',
  '=x',
]

const shells = ['sh', 'bash', 'zsh', 'busybox'].filter(
  (shell) =>
    process.platform !== 'win32' &&
    spawnSync(shell, shell === 'busybox' ? ['sh', '-c', ':'] : ['-c', ':']).status === 0,
)

let folder: string
let service: RunningService
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tabwire-words-'))
  // An unquoted pattern would match it.
  await writeFile(join(folder, 'file'), '')
  service = await serve()
  return async () => {
    await service.stop()
    await rm(folder, { recursive: true, force: true })
  }
})

/** Shell functions in place of programs. Each prints U+0001, then its name and its arguments, each ended by NUL. */
const functions = ['tabwire', 'curl', 'chmod', 'touch'].map(
  (name) =>
    `${name}() { while IFS= read -r _; do :; done; printf '\\001'; for word in ${name} "$@"; do printf '%s\\0' "$word"; done; }\n`,
)

/** Returns the calls, with their arguments, that a real shell runs for pasted text. */
async function callsOf(text: string, shell: string): Promise<string[][]> {
  const script = functions.join('') + text
  const args = shell === 'busybox' ? ['sh', '-c', script] : ['-c', script]
  const env = {
    PATH: '/usr/bin:/bin',
    HOME: folder,
    WEBHOOK_SECRET: 'whsec_s',
    TABWIRE_API_KEY: 'twk_k',
  }
  const output = execFileSync(shell, args, { cwd: folder, env, input: '' }).toString()
  expect(await readdir(folder)).toEqual(['file'])
  return output
    .split('\u0001')
    .slice(1)
    .map((call) => call.split('\0').slice(0, -1))
}

describe.each(shells)('in %s', (shell) => {
  test.each(sampled(hostile, 4))(
    'a value in a suggested command is one argument, and not an option: %j',
    async (value) => {
      const command = tabwireCommand('guests pay', [value], { claim: value, all: true })
      const [call] = await callsOf(command, shell)
      const option = value.startsWith('-') || value === '' ? [`--claim=${value}`] : ['--claim', value]
      const expected = value.startsWith('-')
        ? ['tabwire', 'guests', 'pay', ...option, '--all', '--', value]
        : ['tabwire', 'guests', 'pay', value, ...option, '--all']
      expect(call).toEqual(expected)
    },
  )

  /** Every copy button of the inspector, and every command that is printed to be run by hand. */
  const suggestions: [name: string, make: (value: string) => string, args: (value: string) => string[]][] = [
    [
      'Copy as tabwire receiver check',
      receiverCheckCommand,
      (url) =>
        url.startsWith('-')
          ? ['tabwire', 'receiver', 'check', '--secret', 'whsec_s', '--', url]
          : ['tabwire', 'receiver', 'check', url, '--secret', 'whsec_s'],
    ],
    [
      'Copy as command, of an event',
      eventCommand,
      (id) =>
        id.startsWith('-')
          ? ['tabwire', 'events', 'show', '--body', '--', id]
          : ['tabwire', 'events', 'show', id, '--body'],
    ],
    [
      'Copy as tabwire verify',
      verifyCommand,
      (value) => [
        'tabwire',
        'verify',
        ...['--secret', 'whsec_s'],
        ...(value.startsWith('-') || value === '' ? [`--delivery=${value}`] : ['--delivery', value]),
      ],
    ],
    [
      'Copy as curl, of a delivery',
      (value) => {
        const headers = [{ name: 'User-Agent', value: 'Acme-Webhooks/1.0' }]
        return deliveryCurl({ url: value, headers, body: value }, 'Acme')
      },
      (url) => [
        ...['curl', '-gsS', '-X', 'POST', ...(url.startsWith('-') ? ['--url', url] : [url])],
        ...['-H', 'Content-Type: application/json', '-H', 'User-Agent: Acme-Webhooks/1.0'],
        ...['-H', `X-Acme-Signature: ${PLACEHOLDER}`, '--data-binary', '@-'],
      ],
    ],
    [
      'Copy as curl, of a request',
      (value) =>
        requestCurl('http://localhost:1', {
          method: 'GET',
          path: `/${value}`,
          request_body: null,
        } as LoggedRequest),
      (value) => [
        ...['curl', '-gsS', '-X', 'GET', `http://localhost:1/${value.replaceAll("'", '%27')}`],
        ...['-H', 'Authorization: Bearer twk_k'],
      ],
    ],
    [
      'Copy as curl, of a push',
      (value) =>
        requestCurl('http://localhost:1', {
          method: value,
          path: `/${value}`,
          request_body: value,
        } as LoggedRequest),
      (value) => [
        ...['curl', '-gsS', '-X', value, `http://localhost:1/${value}`],
        ...[
          '-H',
          'Content-Type: application/json',
          '-H',
          'Authorization: Bearer twk_k',
          '--data-binary',
          '@-',
        ],
      ],
    ],
    [
      'a curl command with a header',
      (value) => curlCommand('https://a/', `X-A: ${value}`, Buffer.from(value)),
      (value) => [
        ...['curl', '-gsS', '-X', 'POST', 'https://a/', '-H', 'Content-Type: application/json'],
        ...['-H', `X-A: ${value}`, '--data-binary', '@-'],
      ],
    ],
    [
      'doctor, of a certificate',
      (value) => {
        const [, advice] = certificateAdvice('CERT_HAS_EXPIRED', value)
        return advice.slice(advice.indexOf('tabwire'))
      },
      (host) =>
        host.startsWith('-')
          ? ['tabwire', 'certs', 'create', '--', host]
          : ['tabwire', 'certs', 'create', host],
    ],
  ]

  test.each(suggestions)('%s', async (_name, make, args) => {
    expect(await callsOf(hostile.map(make).join('\n'), shell)).toEqual(hostile.map(args))
  })
})

describe('a suggested next command', () => {
  const checks = ["';touch ran;'", '$(touch ran)', '-rf', 'a b', '--amount=1', '\u202ex'].filter(
    () => shells.length > 0,
  )

  test.each(sampled(checks, 2))('is for the check %j', async (id) => {
    const call = await service.call('PUT', `/v1/checks/external/${encodeURIComponent(id)}`, checkBody())
    expect(call.status).toBe(201)
    const claimed = await service.run(['guests', 'claim', '--', id, 'line-2'])
    expect(claimed).toMatchObject({ code: 0 })
    const [claim = []] = await callsOf(/Next: ([^]*)\n/.exec(claimed.stderr)?.[1] ?? '', 'sh')
    expect(claim.filter((word) => !word.startsWith('clm_') && word !== '--')).toEqual(
      id.startsWith('-')
        ? ['tabwire', 'guests', 'pay', '--claim', id]
        : ['tabwire', 'guests', 'pay', id, '--claim'],
    )
    // The command takes what it has suggested.
    const paid = await service.run(claim.slice(1))
    expect(paid).toMatchObject({ code: 0 })
    const [pay = []] = await callsOf(/Next: ([^]*)\n/.exec(paid.stderr)?.[1] ?? '', 'sh')
    expect(pay).toEqual(['tabwire', 'guests', 'pay', ...(id.startsWith('-') ? ['--'] : []), id])
    expect(await service.run(pay.slice(1))).toMatchObject({ code: 0 })
  })

  test('is harmless for any id that a service returns', async () => {
    const id = '$(touch ran);touch ran'
    const { url } = await openHttpServer((_request, response) =>
      response.writeHead(201).end(
        JSON.stringify({
          id,
          url: 'https://a/',
          event_types: [],
          status: 'active',
          disabled_at: null,
          created_at: '2026-01-01T00:00:00Z',
          signing_secret: 'whsec_x',
        }),
      ),
    )
    const { stderr } = await tabwire(['endpoints', 'create', 'https://a/', '--events', 'all', '--url', url])
    expect(stderr).toContain('Next: ')
    if (shells.length > 0)
      expect(await callsOf(/Next: (.*)/.exec(stderr)?.[1] ?? '', 'sh')).toEqual([['tabwire', 'ping', id]])
  })
})

test('a word that only zsh would change is quoted', () => {
  expect(['=x', 'a=x', '--a=x'].map((text) => shellWord(text))).toEqual(["'=x'", 'a=x', '--a=x'])
})

test('PowerShell gets its own quoting', () => {
  expect(shellWord("a'b’c;$(d)", 'powershell')).toBe("'a''b’’c;$(d)'")
  expect(shellWord('fixtures\\checks\\a.json', 'powershell')).toBe('fixtures\\checks\\a.json')
  expect(tabwireCommand('ping', ['-x'], { secret: { variable: 'S' } }, 'powershell')).toBe(
    `tabwire ping --secret "$env:S" '--' -x`,
  )
})

/** A suggestion that is put together by hand is one that this file does not know; a constant has no value to quote. */
test('no source file builds a command with values except by tabwireCommand', async () => {
  const root = fileURLToPath(new URL('../../src/', import.meta.url))
  const files = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter((path) =>
    /\.tsx?$/.test(path),
  )
  const byHand = files.flatMap((path) =>
    Array.from(
      readFileSync(join(root, path), 'utf8').matchAll(
        /\btabwire (?:[a-z-]+ ){1,3}(?:--[a-z-]+ )?\$\{(?![A-Z_]+\})[^}]*\}/g,
      ),
      ([text]) => `${path.replaceAll('\\', '/')}: ${text}`,
    ),
  )
  expect(byHand).toEqual([])
  expect(await readFile(join(root, 'model/text/shell-command.ts'), 'utf8')).toContain('tabwireCommand')
})
