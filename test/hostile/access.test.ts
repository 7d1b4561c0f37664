import { networkInterfaces } from 'node:os'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { describe, expect, test } from 'vitest'
import { check, errorOf, openReceiver, rawHeaders } from '../support/simulator.ts'
import { checksOf, openTarget, type Target } from './standing.ts'

const unkeyed = ({ port }: Target) => `Host: 127.0.0.1:${port}\r\nConnection: close\r\n`

test.each<[what: string, authorization: (key: string) => string]>([
  ['a key of 8 KB', () => `Bearer ${'k'.repeat(8192)}`],
  ['a key with a tab in it', (key) => `Bearer ${key.slice(0, 9)}\t${key.slice(9)}`],
  ['the word undefined', () => 'Bearer undefined'],
  ['its hash', () => `Bearer ${'0'.repeat(64)}`],
  ['__proto__', () => 'Bearer __proto__'],
  ['a list in which the key is second', (key) => `Basic eA==, Bearer ${key}`],
])('%s instead of the key is answered with 401', async (_what, authorization) => {
  const target = await openTarget()
  const headers = { authorization: authorization(target.apiKey) }
  const answer = await target.call('GET /v1/locations', { key: null, headers })
  expect(answer.status).toBe(401)
  expect(errorOf(answer).code).toBe('unauthorized')
  await target.stands(answer)
})

test('a key in a body, a cookie or another header is ignored', async () => {
  const target = await openTarget()
  const { apiKey } = target
  const headers = {
    cookie: `api_key=${apiKey}`,
    'x-api-key': apiKey,
    'proxy-authorization': `Bearer ${apiKey}`,
  }
  const json = { ...check(), api_key: apiKey, authorization: `Bearer ${apiKey}` }
  const answer = await target.call('PUT /v1/checks/external/a', { key: null, headers, json })
  expect(answer.status).toBe(401)
  expect(await checksOf(target)).toEqual([])
  await target.stands(answer)
})

test('without a key every response is the same 401, sent before the body arrives', async () => {
  const target = await openTarget()
  const json = 'Content-Type: application/json\r\n'
  const answers = []
  for (const [route, more] of [
    ['GET /v1/checks/external/earlier', ''],
    ['GET /v1/checks/external/nobody', ''],
    ['GET /v1/nothing', ''],
    ['DELETE /v1/checks/external/earlier', ''],
    ['PUT /v1/checks/external/a', `${json}Content-Length: 104857600\r\n`],
    ['PUT /v1/checks/external/a', `${json}Transfer-Encoding: chunked\r\n`],
    ['PUT /v1/checks/external/a', 'Content-Type: text/plain\r\nContent-Length: 5\r\n'],
    ['POST /v1/webhook-endpoints', `${json}Content-Length: 5\r\n`],
    ['GET /_sim/nothing', ''],
    ['POST /_sim/keys', `${json}Content-Length: 5\r\n`],
  ])
    answers.push(await target.raw(`${route} HTTP/1.1\r\n${unkeyed(target)}${more}\r\n`))
  for (const answer of answers) {
    expect(answer.status).toBe(401)
    expect(answer.headers.get('www-authenticate')).toBe('Bearer')
    expect({ ...errorOf(answer), request_id: '' }).toEqual({
      ...errorOf(answers[0] ?? answer),
      request_id: '',
    })
  }
  await target.stands(...answers)
})

test('a read-only key can neither register nor ping endpoints', async () => {
  const target = await openTarget()
  const receiver = await openReceiver()
  const body = { url: receiver.url, event_types: ['check.created'] }
  const { id } = await target.client.endpoints.create({ url: receiver.url, event_types: ['check.closed'] })
  const key = await target.key(['read'])
  for (const [route, json] of [
    ['POST /v1/webhook-endpoints', body],
    [`POST /v1/webhook-endpoints/${id}/test`, undefined],
    [`DELETE /_sim/webhook-endpoints/${id}`, undefined],
    ['PUT /v1/checks/external/a', check()],
    ['POST /_sim/keys', { scopes: ['write'] }],
  ] as const) {
    const answer = await target.call(route, { key, json })
    expect(answer.status).toBe(403)
    expect(errorOf(answer).code).toBe('insufficient_scope')
  }
  await target.idle()
  expect(receiver.requests).toEqual([])
  expect((await target.client.endpoints.list()).data).toMatchObject([{ id, status: 'enabled' }])
  expect(await checksOf(target)).toEqual([])
  await target.stands()
})

describe('a page in a browser', () => {
  const ask = (target: Target, route: string, headers: Record<string, string>) => {
    const all = { Authorization: `Bearer ${target.apiKey}`, Connection: 'close', ...headers }
    const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`)
    return target.raw(`${route} HTTP/1.1\r\n${lines.join('')}\r\n`)
  }

  test.each<[host: string, status: number]>([
    ['', 400],
    ['127.0.0.1.nip.io', 403],
    ['2130706433', 403],
    ['0x7f000001', 403],
    ['0', 403],
    ['0.0.0.0', 403],
    ['[::]', 403],
    ['[::ffff:127.0.0.1]', 403],
    ['127.0.0.1.', 200],
    ['127.0.0.1:evil', 403],
    ['127.0.0.1:80:80', 403],
    ['localhost..', 403],
    ['localhost/.evil.example', 403],
    ['localhost\\evil', 403],
    ['[::1', 403],
    ['[::1]evil.example', 403],
    ['simulator:4100', 403],
  ])('that calls the Host “%s” gets %i', async (host, status) => {
    const target = await openTarget()
    const answer = await ask(target, 'GET /v1/locations', { Host: host })
    expect(answer.status).toBe(status)
    if (status === 403) expect(errorOf(answer).message).toContain('--allowed-host')
    await target.stands(answer)
  })

  test('that calls an address of this machine gets a response', async () => {
    const target = await openTarget()
    for (const { address, family } of Object.values(networkInterfaces()).flatMap((list) => list ?? [])) {
      const Host = family === 'IPv6' ? `[${address}]:4100` : `${address}:4100`
      expect(await ask(target, 'GET /v1/locations', { Host })).toMatchObject({ status: 200 })
    }
    await target.stands()
  })

  test.each([
    'http://evil.example',
    'http://203.0.113.5',
    'http://localhost@evil.example',
    'http://localhost:80@evil.example',
    'http://[::1].evil.example',
    'http://[::1',
    'http://[localhost]',
    'ftp://localhost',
    'HTTP://EVIL.EXAMPLE',
    'localhost.evil.example',
    'http://localhost evil',
    'http://localhost,http://evil.example',
    'http:// localhost',
    'data:text/html,x',
  ])('of the origin %s can neither write nor control anything', async (origin) => {
    const target = await openTarget()
    for (const route of ['PUT /v1/checks/external/a', 'POST /v1/webhook-endpoints', 'POST /_sim/keys']) {
      const answer = await ask(target, route, { Host: 'localhost', Origin: origin })
      expect([route, answer.status]).toEqual([route, 403])
      await target.stands(answer)
    }
  })

  test.each(['GET /index.html', 'GET /v1/checks', 'GET /v1/checks/external/script', 'GET /favicon.ico'])(
    'that requests HTML of %s gets JSON, which no browser renders as a page',
    async (route) => {
      const target = await openTarget()
      await target.push('script', { table: { number: '<script>alert(1)</script>' } })
      const answer = await target.call(route, { headers: { accept: 'text/html' } })
      expect(answer.headers.get('content-type')).toBe('application/json; charset=utf-8')
      expect(answer.headers.get('x-content-type-options')).toBe('nosniff')
      await target.stands(answer)
    },
  )

  test('of another origin can open neither the stream nor a WebSocket', async () => {
    const target = await openTarget()
    const upgrade = {
      Connection: 'Upgrade',
      Upgrade: 'websocket',
      'Sec-WebSocket-Version': '13',
      'Sec-WebSocket-Key': 'dGhlIHNhbXBsZSBub25jZQ==',
    }
    for (const headers of [{}, upgrade]) {
      const all = { Host: 'localhost', Origin: 'https://evil.example', ...headers }
      const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`)
      const own = rawHeaders(target)
        .replace(/^Host.*\r\n/, '')
        .replace(/Connection.*\r\n/, '')
      const socket = connect(target.port, '127.0.0.1')
      const end = 'Connection' in headers ? '' : 'Connection: close\r\n'
      socket.write(`GET /_sim/stream HTTP/1.1\r\n${own}${lines.join('')}${end}\r\n`)
      socket.once('data', () => socket.end())
      expect(await text(socket)).toMatch(/^HTTP\/1\.1 403 /)
    }
    await target.stands()
  })
})
