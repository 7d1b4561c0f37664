import { once } from 'node:events'
import { createServer } from 'node:http'
import { connect, type AddressInfo, type Socket } from 'node:net'
import { Duplex } from 'node:stream'
import { text } from 'node:stream/consumers'
import { connect as connectTls } from 'node:tls'
import { describe, expect, it, onTestFinished } from 'vitest'
import { answerRawErrors } from '../../src/http/raw-errors.ts'
import {
  check,
  errorOf,
  openSimulator,
  rawHeaders,
  temporaryDirectory,
  type TestSimulator,
  isAcceptedByParser,
} from '../support/simulator.ts'

const body = JSON.stringify(check())

/** A push as text; the connection stays open unless `more` says otherwise. */
function put(
  to: TestSimulator,
  id: string,
  more = `Content-Length: ${body.length}\r\n`,
  sent = body,
): string {
  const own = rawHeaders(to).replace('Connection: close\r\n', '')
  return `PUT /v1/checks/external/${id} HTTP/1.1\r\n${own}Content-Type: application/json\r\n${more}\r\n${sent}`
}

function open(port: number): Socket {
  const socket = connect(port, '127.0.0.1')
  socket.on('error', () => undefined)
  onTestFinished(() => void socket.destroy())
  return socket
}

/** Sends a text in one packet and reads until the service closes the connection. */
function exchange(to: TestSimulator, packet: string): Promise<string> {
  const socket = open(to.port)
  socket.write(packet)
  return text(socket)
}

const statusesOf = (answers: string) =>
  [...answers.matchAll(/HTTP\/1\.1 (\d+) /g)].map(([, status]) => Number(status))
const idsOf = (answers: string) => [...answers.matchAll(/^x-request-id: (\S+)/gim)].map(([, id]) => id)

async function log({ client }: TestSimulator) {
  return (await client.requests.list({ limit: 100 })).data
    .map(({ id, method, path, status }) => ({ id, method, path, status }))
    .toReversed()
}

const junk = '\u0001\u0002junk\r\n\r\n'
const brokenChunk = 'Transfer-Encoding: chunked\r\n'

describe('a valid request with a broken one behind it in the same packet', () => {
  it('is answered first, then the broken one; both are in the log under their ids', async () => {
    const simulator = await openSimulator()
    const answers = await exchange(simulator, put(simulator, 'a') + junk)
    expect(statusesOf(answers)).toEqual([201, 400])
    const [first, second] = idsOf(answers)
    expect(await log(simulator)).toEqual([
      { id: first, method: 'PUT', path: '/v1/checks/external/a', status: 201 },
      { id: second, method: '-', path: '-', status: 400 },
    ])
  })

  it('is answered after several valid requests', async () => {
    const simulator = await openSimulator()
    const pushes = ['a', 'b', 'a', 'c'].map((id) => put(simulator, id))
    expect(statusesOf(await exchange(simulator, pushes.join('') + junk))).toEqual([201, 201, 200, 201, 400])
  })

  it('is the only one answered when it closes its connection', async () => {
    const simulator = await openSimulator()
    const more = `Content-Length: ${body.length}\r\nConnection: close\r\n`
    const answers = await exchange(simulator, put(simulator, 'a', more) + junk)
    expect(statusesOf(answers)).toEqual([201])
  })

  it('is answered before a CONNECT is refused', async () => {
    const simulator = await openSimulator()
    const answers = await exchange(simulator, `${put(simulator, 'a')}CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n`)
    expect(statusesOf(answers)).toEqual([201, 400])
    expect((await log(simulator))[1]).toEqual({
      id: idsOf(answers)[1],
      method: 'CONNECT',
      path: 'a:1',
      status: 400,
    })
  })

  it('is answered before a broken body is refused, and each of the two is in the log once', async () => {
    const simulator = await openSimulator()
    const answers = await exchange(
      simulator,
      put(simulator, 'a') + put(simulator, 'b', brokenChunk, 'zz\r\nhello\r\n'),
    )
    expect(statusesOf(answers)).toEqual([201, 400])
    const [first, second] = idsOf(answers)
    const logged = await log(simulator)
    expect(logged).toHaveLength(2)
    expect(logged).toContainEqual({
      id: first,
      method: 'PUT',
      path: '/v1/checks/external/a',
      status: 201,
    })
    expect(logged).toContainEqual({
      id: second,
      method: 'PUT',
      path: '/v1/checks/external/b',
      status: 400,
    })
  })

  it('is answered when the client closes its side after the requests', async () => {
    const simulator = await openSimulator()
    await simulator.client.faults.set({ faults: [{ on: 'api', latency_ms: 50, paths: ['/v1/*'] }] })
    const socket = open(simulator.port)
    socket.end(put(simulator, 'a') + put(simulator, 'b'))
    expect(statusesOf(await text(socket))).toEqual([201, 201])
  })
})

it('a broken request that follows an answered one is refused, and is in the log under its id', async () => {
  const simulator = await openSimulator()
  const socket = open(simulator.port)
  const answers = text(socket)
  socket.once('data', () => socket.write(junk))
  socket.write(put(simulator, 'a'))
  expect(statusesOf(await answers)).toEqual([201, 400])
  expect((await log(simulator))[1]).toEqual({
    id: idsOf(await answers)[1],
    method: '-',
    path: '-',
    status: 400,
  })
})

it('a body that breaks after its request was answered ends the connection without a second response', async () => {
  const simulator = await openSimulator()
  const socket = open(simulator.port)
  const answers = text(socket)
  socket.once('data', () => socket.write('zz\r\nhello\r\n'))
  socket.write(put({ ...simulator, apiKey: 'wrong' }, 'a', brokenChunk, ''))
  expect(statusesOf(await answers)).toEqual([401])
  expect(await log(simulator)).toHaveLength(1)
})

it('a refused request whose query contains text of the response is answered and logged', async () => {
  const simulator = await openSimulator()
  const path = '/v1/checks/external/a?token=%22message%22%3A'
  const packet = `PUT ${path} HTTP/1.1\r\nHost: 127.0.0.1:${simulator.port}\r\nbad header\r\n\r\n`
  const answers = await exchange(simulator, packet)
  expect(statusesOf(answers)).toEqual([400])
  const unauthorized = await simulator.call(`PUT ${path}`, { json: check(), key: 'twk_wrong' })
  expect([unauthorized.status, errorOf(unauthorized).code]).toEqual([401, 'unauthorized'])
  expect(await simulator.call('GET /_sim/health')).toMatchObject({ status: 200 })
  expect((await log(simulator)).map(({ id, status }) => [id, status])).toEqual([
    [idsOf(answers)[0], 400],
    [unauthorized.headers.get('x-request-id'), 401],
  ])
})

it('a live stream ends when its subscriber closes one side', async () => {
  const simulator = await openSimulator()
  const socket = open(simulator.port)
  socket.write(`GET /_sim/stream HTTP/1.1\r\n${rawHeaders(simulator)}\r\n`)
  await once(socket, 'data')
  socket.end()
  await once(socket, 'close')
})

it('the reset of a refused CONNECT does not end the process', async () => {
  const server = createServer()
  const refuse = () => ({ status: 400, headers: {}, body: '' })
  answerRawErrors(server, () => undefined, { refuse }, { firstRequestMs: 60_000, requestMs: 60_000 })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  const socket = open((server.address() as AddressInfo).port)
  const accepted = new Promise<Socket>((resolve) => server.once('connection', resolve))
  socket.write('CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n')
  await once(socket, 'data')
  // An error without a listener ends the process.
  expect((await accepted).listenerCount('error')).toBeGreaterThan(0)
  socket.resetAndDestroy()
  await new Promise<void>((resolve) => void accepted.then((peer) => peer.once('close', () => resolve())))
})

describe('a request target', () => {
  const get = (to: TestSimulator, target: string) => to.raw(`GET ${target} HTTP/1.1\r\n${rawHeaders(to)}\r\n`)

  it.each([
    'http://foreign.example/v1/locations',
    'http://127.0.0.1.foreign.example/v1/locations',
    'http://127.0.0.1@foreign.example/v1/locations',
    'http://user@127.0.0.1/v1/locations',
    'ftp://127.0.0.1/v1/locations',
    'http:///v1/locations',
    '/v1/locations#top',
    '/v1/locations?limit=1#top',
    '/v1/checks/external/a#b',
    '/v1\\locations',
    '\\\\foreign.example/v1/locations',
    '/v1/locations?limit=\\1',
    'v1/locations',
  ])('of %s is 400, and in the log under its id', async (target) => {
    const simulator = await openSimulator()
    const answer = await get(simulator, target)
    expect(answer.status).toBe(400)
    const { code, request_id: id } = errorOf(answer)
    expect(code).toBe('invalid_request')
    expect(await log(simulator)).toEqual([{ id, method: 'GET', path: target, status: 400 }])
  })

  it.each(['http://foreign.example/t/1/hidden-token', '/t/1/hidden-token#top', '/t/1/hidden-token\\x'])(
    'that is refused is logged without the token of a table: %s',
    async (target) => {
      const simulator = await openSimulator()
      expect((await get(simulator, target)).status).toBe(400)
      const logged = await log(simulator)
      expect(logged).toHaveLength(1)
      expect(JSON.stringify(logged)).not.toContain('hidden-token')
    },
  )

  it('that is a URL of this service counts as its path, and the log has the path', async () => {
    const simulator = await openSimulator()
    for (const host of [`127.0.0.1:${simulator.port}`, 'LOCALHOST', '[::1]'])
      expect((await get(simulator, `http://${host}/v1/locations?limit=1`)).status).toBe(200)
    expect((await get(simulator, 'http://localhost?a=b')).status).toBe(200)
    expect(new Set((await log(simulator)).map(({ path }) => path))).toEqual(
      new Set(['/v1/locations?limit=1']),
    )
  })

  it('that is refused does not prevent answers to later requests of the connection', async () => {
    const simulator = await openSimulator()
    const own = rawHeaders(simulator).replace('Connection: close\r\n', '')
    const answers = await exchange(
      simulator,
      `GET /v1/locations#top HTTP/1.1\r\n${own}\r\n${put(simulator, 'a', `Content-Length: ${body.length}\r\nConnection: close\r\n`)}`,
    )
    expect(statusesOf(answers)).toEqual([400, 201])
  })
})

describe('a version of HTTP', () => {
  it.each(['HTTP/0.9', 'HTTP/1.2', 'HTTP/2.0', 'HTTP/3.0', 'HTTP/9.9'])(
    'other than 1.0 and 1.1 is 505: %s',
    async (version) => {
      const simulator = await openSimulator()
      const answer = await simulator.raw(`GET /v1/locations ${version}\r\n${rawHeaders(simulator)}\r\n`)
      expect(answer.status).toBe(505)
      const { code, message, request_id: id } = errorOf(answer)
      expect(code).toBe('http_version_not_supported')
      expect(message).toContain(version)
      expect(await log(simulator)).toEqual([{ id, method: 'GET', path: '/v1/locations', status: 505 }])
    },
  )

  it.each(['HTTP/1.0', 'HTTP/1.1'])(
    'that is right is not blamed for lines that end with LF alone: %s',
    async (version) => {
      const simulator = await openSimulator()
      const answer = await simulator.raw(
        `GET /v1/locations ${version}\r\n${rawHeaders(simulator)}\r\n`.replaceAll('\r', ''),
      )
      expect(answer.status).toBe(400)
      expect(errorOf(answer)).toMatchObject({
        code: 'invalid_request',
        message: 'The lines of the request end with LF alone. End each line of the head with CR LF.',
      })
    },
  )

  it('cannot be missing, nor be the HTTP/2 preface', async () => {
    const simulator = await openSimulator()
    expect((await simulator.raw('GET /v1/locations\r\n\r\n')).status).toBe(505)
    expect((await simulator.raw('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n')).status).toBe(505)
  })

  it('1.0 needs no Host header, and is refused with a foreign one', async () => {
    const simulator = await openSimulator()
    const key = `Authorization: Bearer ${simulator.apiKey}\r\n`
    const get = (more: string) => simulator.raw(`GET /v1/locations HTTP/1.0\r\n${key}${more}\r\n`)
    expect(await get('')).toMatchObject({ status: 200, json: { data: expect.any(Array) as unknown } })
    expect((await get('Host: localhost\r\n')).status).toBe(200)
    expect((await get('Host: foreign.example\r\n')).status).toBe(403)
    const withoutHost = `GET /v1/locations HTTP/1.1\r\n${key}Connection: close\r\n\r\n`
    expect((await simulator.raw(withoutHost)).status).toBe(400)
  })
})

describe('a head that is not HTTP gets advice, and is not quoted:', () => {
  const percent =
    'The path contains a space or a character outside ASCII. Percent-encode the id, such as %20 for a space.'

  it.for<[what: string, packet: string, message: string]>([
    ['a blank in the path', 'PUT /v1/checks/external/secret 7 HTTP/1.1', percent],
    ['two blanks in the path', 'PUT /v1/checks/external/secret 7 a HTTP/1.1', percent],
    ['a blank in the query', 'GET /v1/checks?table=secret 7 HTTP/1.1', percent],
    ['bytes beyond ASCII in the path', 'PUT /v1/checks/external/secret-é HTTP/1.1', percent],
    [
      'a TLS handshake',
      '\x16\x03\x01\x00\xa5\x01\x00\x00',
      'This port speaks plain HTTP, not TLS. Use http://, or start the service with --https.',
    ],
    [
      'an unknown method',
      'BREW /secret HTTP/1.1',
      'The request is not valid HTTP/1.1. Check the request line and the headers.',
    ],
    ...['PROXY TCP4 127.0.0.1 127.0.0.1 51000 4100', '\r\n\r\n\0\r\nQUIT\n\x21\x11\0\x0c'].map(
      (line): [string, string, string] => [
        `the PROXY protocol, ${JSON.stringify(line.slice(0, 5))}`,
        line,
        'The connection begins with the PROXY protocol, which this service does not speak. Turn it off in the proxy, such as send-proxy of HAProxy.',
      ],
    ),
    [
      'a method in small letters',
      'put /v1/checks/external/a HTTP/1.1',
      'Methods are case-sensitive. Write the method in capitals, such as PUT.',
    ],
  ])('%s', async ([what, line, message], { skip }) => {
    skip(isAcceptedByParser(what), 'the HTTP parser of this Node accepts it')
    const simulator = await openSimulator()
    const answer = await simulator.raw(`${line}\r\n${rawHeaders(simulator)}\r\n`)
    expect(errorOf(answer)).toMatchObject({ code: 'invalid_request', message })
    expect(answer.status).toBe(400)
  })
})

describe('a connection that the client ends', () => {
  it.each(['', body.slice(1)])('before the body is whole is named, after %j', async (sent) => {
    const simulator = await openSimulator()
    const socket = open(simulator.port)
    socket.end(put(simulator, 'a', undefined, sent))
    const answer = await text(socket)
    expect(statusesOf(answer)).toEqual([400])
    expect(answer).toContain(
      'The connection ended before the whole request had arrived. Send the request again. Content-Length must',
    )
  })
})

describe('header fields', () => {
  const withHeaders = (to: TestSimulator, count: number) => {
    const own = rawHeaders(to) + `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n`
    const rest = count - own.split('\r\n').length + 1
    return to.raw(`PUT /v1/checks/external/a HTTP/1.1\r\n${own}${'a:\r\n'.repeat(rest)}\r\n${body}`)
  }

  it('up to 1,000 are read', async () => {
    const simulator = await openSimulator()
    expect((await withHeaders(simulator, 1_000)).status).toBe(201)
  })

  it.each([1_001, 1_030, 2_500, 12_000])('of %i get 431, and change nothing', async (count) => {
    const simulator = await openSimulator()
    const answer = await withHeaders(simulator, count)
    expect(answer.status).toBe(431)
    const { code, request_id: id } = errorOf(answer)
    expect(code).toBe('headers_too_large')
    expect((await log(simulator)).map((entry) => entry.id)).toEqual([id])
    expect((await simulator.client.checks.list()).data).toEqual([])
  })
})

describe('the log has, under the id of the response,', () => {
  it.for<[what: string, packet: (to: TestSimulator) => string, line: [method: string, path: string]]>([
    ['bytes that are not HTTP', () => 'garbage\r\n\r\n', ['-', '-']],
    ['a TLS handshake', () => '\x16\x03\x01\x00\xa5\x01\x00\x00', ['-', '-']],
    ['an unknown method', (to) => `BREW /v1/pot HTTP/1.1\r\n${rawHeaders(to)}\r\n`, ['BREW', '/v1/pot']],
    [
      'a header name with a blank',
      (to) => `GET /v1/locations HTTP/1.1\r\n${rawHeaders(to)}Bad Name: x\r\n\r\n`,
      ['GET', '/v1/locations'],
    ],
    [
      'headers of 32 KiB',
      (to) => `GET /v1/locations HTTP/1.1\r\n${rawHeaders(to)}X: ${'x'.repeat(32_768)}\r\n\r\n`,
      ['GET', '/v1/locations'],
    ],
    ['a broken body', (to) => put(to, 'a', brokenChunk, 'zz\r\nhello\r\n'), ['PUT', '/v1/checks/external/a']],
    ['a CONNECT', () => 'CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n', ['CONNECT', 'a:1']],
  ])('%s', async ([what, packet, [method, path]], { skip }) => {
    skip(isAcceptedByParser(what), 'the HTTP parser of this Node accepts it')
    const simulator = await openSimulator()
    const answer = await simulator.raw(packet(simulator))
    const { request_id: id } = errorOf(answer)
    expect(await log(simulator)).toEqual([{ id, method, path, status: answer.status }])
    expect((await simulator.client.requests.get(id)).response_body).toBe(answer.text)
  })

  it.each<[what: string, begin: (to: TestSimulator) => string, line: [method: string, path: string]]>([
    ['headers', (to) => `GET /v1/locations HTTP/1.1\r\n${rawHeaders(to)}`, ['-', '-']],
    ['a body', (to) => put(to, 'a', 'Content-Length: 50\r\n', '{'), ['PUT', '/v1/checks/external/a']],
  ])('%s that did not come in time', async (_what, begin, [method, path]) => {
    const connectionLimits = { headersMs: 100, requestMs: 100, firstRequestMs: 100 }
    const simulator = await openSimulator({ connectionLimits })
    const answers = await exchange(simulator, begin(simulator))
    expect(statusesOf(answers)).toEqual([408])
    expect(await log(simulator)).toEqual([{ id: idsOf(answers)[0], method, path, status: 408 }])
  })

  it('and nothing at all for a connection without a TLS handshake', async () => {
    const dataDirectory = await temporaryDirectory()
    const connectionLimits = { headersMs: 50 }
    const { port, fetch, apiKey } = await openSimulator({ https: true, dataDirectory, connectionLimits })
    const socket = open(port)
    socket.write('\x16\x03\x01\x00')
    await once(socket, 'close')
    const logged = await fetch('/_sim/requests', { headers: { authorization: `Bearer ${apiKey}` } })
    expect(await logged.json()).toMatchObject({ data: [] })
  })

  it('and nothing for a connection without a request, with TLS or without', async () => {
    const connectionLimits = { firstRequestMs: 20 }
    const plain = await openSimulator({ connectionLimits })
    expect(await text(open(plain.port))).toBe('')
    expect(await log(plain)).toEqual([])
    const dataDirectory = await temporaryDirectory()
    const { port, fetch, apiKey } = await openSimulator({ https: true, dataDirectory, connectionLimits })
    const socket = connectTls({ port, host: '127.0.0.1', rejectUnauthorized: false })
    expect(await text(socket)).toBe('')
    const logged = await fetch('/_sim/requests', { headers: { authorization: `Bearer ${apiKey}` } })
    expect(await logged.json()).toMatchObject({ data: [] })
  })
})

/** Returns the first message of a TLS 1.2 client, which verifies the certificate before it encrypts. */
async function clientHello(): Promise<Buffer> {
  return new Promise((resolve) => {
    const socket = new Duplex({ read() {}, write: (message: Buffer) => resolve(message) })
    connectTls({ socket, maxVersion: 'TLSv1.2' })
  })
}

function fatalAlert(description: number): Buffer {
  return Buffer.from([0x15, 3, 3, 0, 2, 2, description])
}

describe('a failed TLS handshake', () => {
  it('gives a notice, once for each reason that the user can correct', async () => {
    const notices: string[] = []
    const dataDirectory = await temporaryDirectory()
    const onNotice = (notice: string) => void notices.push(notice)
    const { port } = await openSimulator({ https: true, dataDirectory, onNotice })
    const send = async (first: string | Buffer, second?: Buffer) => {
      const socket = open(port)
      socket.write(first)
      if (second !== undefined) socket.once('data', () => socket.write(second))
      await once(socket.resume(), 'close')
    }
    const hello = await clientHello()
    // Of a client without a common version.
    await send(hello, fatalAlert(70))
    await send('EHLO\r\n')
    expect(notices).toEqual([])
    // Of OpenSSL, Java and Go.
    for (const alert of [48, 46, 42]) await send(hello, fatalAlert(alert))
    await send('GET / HTTP/1.1\r\n\r\n')
    await send('GET / HTTP/1.1\r\n\r\n')
    expect(notices).toEqual([
      expect.stringContaining('Make the client trust ca/ca.pem'),
      expect.stringContaining('Use the https:// URL.'),
    ])
  })
})
