import { describe, expect, it } from 'vitest'
import { createAllowedHosts, ownAddresses } from '../../../src/http/auth/host-check.ts'
import type { SimulatorOptions } from '../../../src/simulator.ts'
import { check, errorOf, openSimulator, type TestSimulator } from '../../support/simulator.ts'

/** Sends a request with any Host header, which fetch does not allow. */
function ask(
  { raw, apiKey }: TestSimulator,
  host: string,
  more: Record<string, string> = {},
  route = 'GET /v1/locations',
) {
  const headers = { Host: host, Authorization: `Bearer ${apiKey}`, Connection: 'close', ...more }
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`)
  return raw(`${route} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n`)
}

describe('a request', () => {
  it.each([
    '127.0.0.1',
    '127.0.0.1:4100',
    '127.1.2.3',
    'localhost',
    'LocalHost:80',
    'localhost.',
    'app.localhost:3000',
    '[::1]',
    '[::1]:4100',
  ])('to the Host %s, which is loopback, is answered', async (host) => {
    expect(await ask(await openSimulator(), host)).toMatchObject({ status: 200 })
  })

  it.each([
    'example.com',
    'example.com:4100',
    'localhost.example.com',
    '127.0.0.1.example.com',
    'xlocalhost',
    'example.com#localhost',
    'user@localhost',
    '127.0.0.1@example.com',
    '169.254.169.254',
    '0x7f.1.example',
    '[2001:db8::1]:4100',
    '127.0.0.1, example.com',
    'localhost:99999',
    'localhost:4100:1',
    'localhost:x',
    'a"b.localhost',
    '<b>.localhost',
    'a/b.localhost',
    'a..localhost',
    '.localhost',
    '[::1',
    '[::1%lo]',
    '[localhost]',
    `${'a'.repeat(300)}.localhost`,
  ])('to the foreign Host %s is 403', async (host) => {
    const answer = await ask(await openSimulator(), host)
    expect(answer.status).toBe(403)
    expect(errorOf(answer).code).toBe('forbidden_host')
  })

  it('with two Host headers is 400', async () => {
    const { raw, apiKey } = await openSimulator()
    const answer = await raw(
      `GET /v1/locations HTTP/1.1\r\nHost: localhost\r\nhost: evil.example\r\nAuthorization: Bearer ${apiKey}\r\nConnection: close\r\n\r\n`,
    )
    expect([answer.status, errorOf(answer).code]).toEqual([400, 'invalid_request'])
  })

  it.each([
    'GET /_sim/health',
    'GET /v1/nothing',
    'GET /',
    'GET /v1/checks/external/%ZZ',
    'OPTIONS /v1/locations',
  ])('%s to a foreign Host is refused before routing, and before its key', async (route) => {
    const answer = await ask(await openSimulator(), 'evil.example', { Authorization: 'none' }, route)
    expect(answer.status).toBe(403)
    expect(errorOf(answer).code).toBe('forbidden_host')
  })

  it.each<[options: SimulatorOptions, host: string, status: number]>([
    [{ allowedHosts: ['tabwire.test'] }, 'tabwire.test:4100', 200],
    [{ allowedHosts: ['tabwire.test'] }, 'TABWIRE.test.', 200],
    [{ allowedHosts: ['Tabwire.TEST:4100'] }, 'tabwire.test', 200],
    [{ publicUrl: 'https://pos.example:8443' }, 'pos.example:8443', 200],
    [{ allowedHosts: ['FD00::1'] }, '[fd00::1]:4100', 200],
    [{ allowedHosts: ['tabwire.test'] }, 'sub.tabwire.test', 403],
    [{ allowedHosts: ['tabwire.test'] }, 'localhost', 200],
  ])('with %j to %s is %i', async (options, host, status) => {
    expect(await ask(await openSimulator(options), host)).toMatchObject({ status })
  })

  it('to an address of this machine is allowed, with or without a port', () => {
    const isAllowed = createAllowedHosts('127.0.0.1', [])
    for (const address of ownAddresses()) {
      const host = address.includes(':') ? `[${address}]` : address
      expect([host, isAllowed(host), isAllowed(`${host}:4100`)]).toEqual([host, true, true])
    }
  })

  it.each(['http://localhost:3000', 'https://127.0.0.1', 'http://[::1]:5173', 'http://app.localhost'])(
    'from a page of this machine, %s, is answered',
    async (origin) => {
      expect(await ask(await openSimulator(), 'localhost', { Origin: origin })).toMatchObject({ status: 200 })
    },
  )

  it.each([
    'https://example.com',
    'http://localhost.example.com',
    'http://example.com:4100',
    'null',
    '',
    'file://',
    'chrome-extension://abcdefghijklmnop',
    'http://user@localhost',
    'http://localhost/',
    'http://localhost:99999',
    'http://localhost#x',
    'ftp://localhost',
    'xhttp://localhost',
    'localhost',
    'http://a"b.localhost',
  ])(
    'from a page of another origin, “%s”, is 403, whatever its method, and changes nothing',
    async (origin) => {
      const simulator = await openSimulator()
      const headers = { Origin: origin }
      for (const route of [
        'GET /v1/locations',
        'OPTIONS /v1/checks/external/a',
        'GET /_sim/health',
        'POST /_sim/keys',
      ]) {
        const answer = await ask(simulator, 'localhost', headers, route)
        expect(answer.status).toBe(403)
        expect(errorOf(answer).code).toBe('forbidden_origin')
      }
      const push = simulator.call('PUT /v1/checks/external/a', {
        json: check(),
        headers: { origin },
      })
      expect(await push).toMatchObject({ status: 403 })
      expect((await simulator.client.checks.list()).data).toEqual([])
    },
  )

  it('that opens a page in a window from any page is answered; other navigations are not', async () => {
    const simulator = await openSimulator()
    const opening = {
      'Sec-Fetch-Site': 'cross-site',
      'Sec-Fetch-Mode': 'navigate',
      'Sec-Fetch-Dest': 'document',
    }
    const statusOf = async (headers: Record<string, string>, route = 'GET /') =>
      (await ask(simulator, 'localhost', headers, route)).status
    const table = new URL((await simulator.client.tables.address('12')).url).pathname
    for (const page of ['/', '/docs', '/docs/guides/service', table]) {
      const statuses = await Promise.all([
        statusOf(opening, `GET ${page}`),
        statusOf({ ...opening, 'Sec-Fetch-Dest': 'iframe' }, `GET ${page}`),
        statusOf({ ...opening, 'Sec-Fetch-Mode': 'no-cors' }, `GET ${page}`),
        statusOf({ ...opening, Origin: 'null' }, `GET ${page}`),
        statusOf(opening, `POST ${page}`),
      ])
      expect([page, ...statuses]).toEqual([page, 200, 403, 403, 403, 403])
    }
    for (const path of [`${table}/stream`, '/_sim/events', '/v1/locations', '/_sim/session', '/v1/docs'])
      expect([path, await statusOf(opening, `GET ${path}`)]).toEqual([path, 403])
  })

  it('from an own page under an unknown name is 403, and says how to allow the name', async () => {
    const simulator = await openSimulator()
    const messageOf = async (site: string) => {
      const headers = { Origin: 'https://sandbox.example', 'Sec-Fetch-Site': site }
      return errorOf(await ask(simulator, 'localhost', headers)).message
    }
    expect(await messageOf('same-origin')).toBe(
      'The page is at "https://sandbox.example", whose host is not allowed. Allow it with --allowed-host, or pass the URL of the proxy with --public-url.',
    )
    expect(await messageOf('cross-site')).toMatch(/^Requests from web pages of another host are refused\./)
  })

  it('that a browser marks as cross-site is 403, also without Origin', async () => {
    const answer = await ask(await openSimulator(), 'localhost', { 'Sec-Fetch-Site': 'cross-site' })
    expect(errorOf(answer).code).toBe('forbidden_origin')
  })
})

describe('an answer', () => {
  it.each([
    'GET /v1/locations',
    'OPTIONS /v1/locations',
    'GET /_sim/health',
    'HEAD /_sim/stream',
    'GET /v1/nothing',
  ])('to %s has no CORS header, and cannot be rendered as a page', async (route) => {
    const more = { Origin: 'http://localhost:3000', 'Access-Control-Request-Method': 'PUT' }
    const { headers } = await ask(await openSimulator(), 'localhost', more, route)
    expect([...headers.keys()].filter((name) => name.startsWith('access-control'))).toEqual([])
    expect(headers.get('content-type')).toMatch(/^(application\/json|text\/event-stream)/)
  })
})
