import { connect } from 'node:net'
import { describe, expect, it } from 'vitest'
import {
  check,
  errorOf,
  openSimulator,
  rawHeaders,
  type TestSimulator,
  isAcceptedByParser,
} from '../support/simulator.ts'

const id = /^req_[0-9A-HJKMNP-TV-Z]{26}$/

describe('X-Request-Id', () => {
  it.each<[status: number, route: string, options?: object]>([
    [200, 'GET /v1/locations'],
    [201, 'PUT /v1/checks/external/a', { json: check() }],
    [200, 'HEAD /v1/locations'],
    [404, 'HEAD /v1/checks/external/a'],
    [200, 'GET /_sim/health', { key: null }],
    [200, 'HEAD /_sim/stream'],
    [200, 'GET /_sim/events'],
    [400, 'GET /v1/checks?limit=x'],
    [400, 'GET /v1/checks/external/%ZZ'],
    [401, 'GET /v1/%ZZ', { key: null }],
    [401, 'GET /v1/locations', { key: null }],
    [404, 'GET /v1/nothing'],
    [200, 'GET /', { key: null }],
    [404, 'GET /nothing', { key: null }],
    [405, 'DELETE /v1/locations'],
    [415, 'PUT /v1/checks/external/a'],
    [422, 'PUT /v1/checks/external/a', { json: [] }],
  ])('is on a %i of %s, new each time, and never the client’s own', async (status, route, options) => {
    const simulator = await openSimulator()
    const headers = { 'x-request-id': 'req_00000000000000000000000000' }
    const answers = [1, 2].map(() => simulator.call(route, { ...options, headers }))
    const [first, second] = await Promise.all(answers)
    expect(first?.headers.get('x-request-id')).toMatch(id)
    expect(second?.headers.get('x-request-id')).toMatch(id)
    expect(
      new Set([
        first?.headers.get('x-request-id'),
        second?.headers.get('x-request-id'),
        headers['x-request-id'],
      ]).size,
    ).toBe(3)
    expect([first?.status, second?.status]).toContain(status)
  })

  it('is on the stream', async () => {
    const simulator = await openSimulator()
    const response = await fetch(`${simulator.url}/_sim/stream`, {
      headers: { authorization: `Bearer ${simulator.apiKey}` },
    })
    expect(response.headers.get('x-request-id')).toMatch(id)
    await response.body?.cancel()
  })

  it.for<[what: string, status: number, request: (simulator: TestSimulator) => string]>([
    ['no HTTP at all', 400, () => 'garbage\r\n\r\n'],
    ['a TLS handshake', 400, () => '\x16\x03\x01\x00\xa5\x01\x00\x00'],
    ['no Host header', 400, () => 'GET /v1/locations HTTP/1.1\r\nConnection: close\r\n\r\n'],
    ['HTTP/1.0 without Host', 401, () => 'GET /v1/locations HTTP/1.0\r\n\r\n'],
    ['an unknown version', 505, (to) => `GET / HTTP/9.9\r\n${rawHeaders(to)}\r\n`],
    [
      'a header name with a blank',
      400,
      (to) => `GET /v1/locations HTTP/1.1\r\n${rawHeaders(to)}Bad Name: x\r\n\r\n`,
    ],
    [
      'a header value with a control character',
      400,
      (to) => `GET / HTTP/1.1\r\n${rawHeaders(to)}X: \x01\r\n\r\n`,
    ],
    [
      'more header than is read',
      431,
      (to) => `GET / HTTP/1.1\r\n${rawHeaders(to)}X: ${'x'.repeat(32_768)}\r\n\r\n`,
    ],
    [
      'a Content-Length that is no number',
      400,
      (to) => `PUT / HTTP/1.1\r\n${rawHeaders(to)}Content-Length: ten\r\n\r\n`,
    ],
    [
      'a negative Content-Length',
      400,
      (to) => `PUT / HTTP/1.1\r\n${rawHeaders(to)}Content-Length: -1\r\n\r\n`,
    ],
    [
      'two Content-Lengths',
      400,
      (to) => `PUT / HTTP/1.1\r\n${rawHeaders(to)}Content-Length: 1\r\nContent-Length: 2\r\n\r\n`,
    ],
    [
      'Content-Length and chunks',
      400,
      (to) =>
        `PUT / HTTP/1.1\r\n${rawHeaders(to)}Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
    ],
    ['an unknown method', 400, (to) => `BREW /v1/locations HTTP/1.1\r\n${rawHeaders(to)}\r\n`],
    ['a method in lower case', 400, (to) => `get /v1/locations HTTP/1.1\r\n${rawHeaders(to)}\r\n`],
    ['CONNECT', 400, (to) => `CONNECT example.com:443 HTTP/1.1\r\n${rawHeaders(to)}\r\n`],
    ['TRACE', 405, (to) => `TRACE /v1/locations HTTP/1.1\r\n${rawHeaders(to)}\r\n`],
    ['OPTIONS *', 404, (to) => `OPTIONS * HTTP/1.1\r\n${rawHeaders(to)}\r\n`],
    [
      'an expectation that is not known',
      200,
      (to) => `GET /v1/locations HTTP/1.1\r\n${rawHeaders(to)}Expect: tea\r\n\r\n`,
    ],
    [
      'a wish to upgrade',
      200,
      (to) =>
        `GET /v1/locations HTTP/1.1\r\n${rawHeaders(to).replace('close', 'upgrade, close')}Upgrade: h2c\r\n\r\n`,
    ],
    ['a malformed escape', 400, (to) => `GET /v1/checks/external/%C3%28 HTTP/1.1\r\n${rawHeaders(to)}\r\n`],
    ['bytes beyond ASCII in the path', 400, (to) => `GET /v1/caf\u00e9 HTTP/1.1\r\n${rawHeaders(to)}\r\n`],
    ['two slashes', 404, (to) => `GET //v1/locations HTTP/1.1\r\n${rawHeaders(to)}\r\n`],
    ['a malformed absolute URL', 400, (to) => `GET http://[x/v1/locations HTTP/1.1\r\n${rawHeaders(to)}\r\n`],
    [
      'a chunk of no length',
      400,
      (to) =>
        `PUT /v1/checks/external/a HTTP/1.1\r\n${rawHeaders(to)}Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n`,
    ],
  ])('is on the answer to %s (%i)', async ([what, status, request], { skip }) => {
    skip(isAcceptedByParser(what), 'the HTTP parser of this Node accepts it')
    const simulator = await openSimulator()
    const answer = await simulator.raw(request(simulator))
    expect(answer.status).toBe(status)
    expect(answer.headers.get('x-request-id')).toMatch(id)
    if (status >= 400) expect(errorOf(answer).request_id).toBe(answer.headers.get('x-request-id'))
  })

  it('is on both answers of a connection whose second request is refused by the parser', async () => {
    const { port } = await openSimulator()
    const text = await new Promise<string>((resolve) => {
      let answers = ''
      const socket = connect(port, '127.0.0.1')
      socket.once('data', () => socket.write('garbage\r\n\r\n'))
      socket.on('data', (data) => (answers += data.toString())).on('close', () => resolve(answers))
      socket.write('GET /_sim/health HTTP/1.1\r\nHost: localhost\r\n\r\n')
    })
    const ids = Array.from(text.matchAll(/^X-Request-Id: (\S+)/gim), (match) => match[1])
    expect(text.match(/HTTP\/1.1 \d+/g)).toEqual(['HTTP/1.1 200', 'HTTP/1.1 400'])
    expect(new Set(ids).size).toBe(2)
  })

  it('names the entry of the request in the log', async () => {
    const simulator = await openSimulator()
    const { headers } = await simulator.push('a')
    const entry = await simulator.client.requests.get(headers.get('x-request-id') ?? '')
    expect(entry).toMatchObject({ method: 'PUT', path: '/v1/checks/external/a', status: 201 })
  })
})
