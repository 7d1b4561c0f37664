import { EventEmitter } from 'node:events'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { commandEnvironment, exitCodeOf, silenceWarning, runCommand } from '../../src/cli/exec.ts'
import { emptyDirectory } from '../support/cli.ts'

const processWith = (pid: number | undefined) => Object.assign(new EventEmitter(), { pid })
const errorOf = (syscall: string, code: string) => Object.assign(new Error(code), { syscall, code })

test.each([
  ['has no process', undefined],
  ['is looked for by cmd.exe on Windows, which has a process', 4711],
])('a missing command is not found when it %s', async (_way, pid) => {
  const child = processWith(pid)
  const ended = exitCodeOf(child, 'soup')
  child.emit('error', errorOf('spawn soup', 'ENOENT'))
  await expect(ended).rejects.toMatchObject({ code: 'command_not_found', exitCode: 127 })
})

test('a signal that may not be sent leaves the exit code to the command', async () => {
  const child = processWith(4711)
  const ended = exitCodeOf(child, 'soup')
  child.emit('error', errorOf('kill', 'EPERM'))
  child.emit('exit', 5, null)
  expect(await ended).toBe(5)
})

test.skipIf(process.platform === 'win32')(
  'a command that ignores the signal is killed after five seconds',
  async () => {
    const ready = join(await emptyDirectory(), 'ready')
    const program = `process.on('SIGTERM', () => {}); setInterval(() => {}, 1000)
      require('node:fs').writeFileSync(${JSON.stringify(ready)}, '')`
    const running = await runCommand([process.execPath, '-e', program], {})
    await expect.poll(() => existsSync(ready)).toBe(true)
    const kill = vi.spyOn(process, 'kill')
    const signals = () => kill.mock.calls.map(([, signal]) => signal)
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    onTestFinished(() => void vi.useRealTimers())
    running.signal('SIGTERM')
    vi.advanceTimersByTime(4_999)
    expect(signals()).toEqual(['SIGTERM'])
    vi.advanceTimersByTime(1)
    expect(signals()).toEqual(['SIGTERM', 'SIGKILL'])
    expect(await running.ended).toBe(137)
  },
)

describe('a command that sent no request', () => {
  const proxy = 'http://proxy.example:3128'

  test.each([
    ['http://127.0.0.1:4100', { HTTP_PROXY: proxy }, 'HTTP_PROXY'],
    ['http://127.0.0.1:4100', { http_proxy: proxy, NO_PROXY: 'localhost, .example' }, 'http_proxy'],
    ['https://127.0.0.1:4100', { HTTPS_PROXY: proxy, HTTP_PROXY: '' }, 'HTTPS_PROXY'],
    ['http://127.0.0.1:4100', { ALL_PROXY: proxy }, 'ALL_PROXY'],
  ])('to %s may have asked the proxy of %j', (url, environment, name) => {
    expect(silenceWarning(url, environment)).toBe(
      `CMD sent no request to the API. ${name} is set, so it may have asked the proxy. Add 127.0.0.1 to NO_PROXY.`,
    )
  })

  test.each([
    ['http://127.0.0.1:4100', {}],
    ['http://127.0.0.1:4100', { NODE_EXTRA_CA_CERTS: 'ca.pem' }],
    ['https://127.0.0.1:4100', { NODE_EXTRA_CA_CERTS: '' }],
    ['http://127.0.0.1:4100', { HTTPS_PROXY: proxy }],
    ['http://127.0.0.1:4100', { HTTP_PROXY: proxy, no_proxy: 'localhost,127.0.0.1' }],
    ['http://127.0.0.1:4100', { HTTP_PROXY: proxy, NO_PROXY: '127.0.0.0/8' }],
    ['http://127.0.0.1:4100', { HTTP_PROXY: proxy, NO_PROXY: '*' }],
    ['http://tabwire.internal:4100', { HTTP_PROXY: proxy, NO_PROXY: 'tabwire.internal' }],
  ])('to %s did not ask a proxy with %j', (url, environment) => {
    expect(silenceWarning(url, environment)).toBe(
      'CMD sent no request to the API. Its base URL is in TABWIRE_BASE_URL, and the key in TABWIRE_API_KEY.',
    )
  })
})

test('a command that sent no request over HTTPS may have another authority', () => {
  expect(silenceWarning('https://127.0.0.1:4100', { NODE_EXTRA_CA_CERTS: 'ca.pem' })).toBe(
    'CMD sent no request to the API. NODE_EXTRA_CA_CERTS is set, so Node.js does not trust the service. Unset it, or add the certificate of TABWIRE_CACERT to its file.',
  )
})

describe('the environment of a command', () => {
  const variables = { TABWIRE_URL: 'http://own' }
  const defaults = { NODE_EXTRA_CA_CERTS: 'ca.pem' }
  const inLowerCase = {
    tabwire_profile: 'staging',
    Tabwire_Api_Key_File: 'key',
    tabwire_cacert: 'other.pem',
    tabwire_url: 'http://other',
    node_extra_ca_certs: '',
    path: '/bin',
  }

  test('has no variables that lead to another service', () => {
    const environment = { TABWIRE_PROFILE: 'staging', TABWIRE_URL: 'http://other', PATH: '/bin' }
    expect(commandEnvironment(environment, variables, {}, 'linux')).toEqual({ ...variables, PATH: '/bin' })
  })

  test('has none of them on Windows either, whatever the case of their names', () => {
    const found = commandEnvironment(inLowerCase, variables, defaults, 'win32')
    expect(found).toEqual({ ...variables, ...defaults, path: '/bin' })
  })

  test('keeps a default that is set under a name in another case on Windows', () => {
    const own = { node_extra_ca_certs: 'own.pem' }
    expect(commandEnvironment(own, {}, defaults, 'win32')).toEqual(own)
  })

  test('has names in other cases on other systems, which tell them apart', () => {
    const found = commandEnvironment(inLowerCase, variables, defaults, 'linux')
    expect(found).toEqual({ ...inLowerCase, ...variables, ...defaults })
  })
})
