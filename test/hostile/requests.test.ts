import { connect, type Socket } from 'node:net'
import { networkInterfaces } from 'node:os'
import { text } from 'node:stream/consumers'
import { describe, expect, onTestFinished, test } from 'vitest'
import { isSoak } from '../soak/seeded.ts'
import { errorOf, openStream, rawHeaders } from '../support/simulator.ts'
import { checksOf, openTarget, valid, type Target } from './standing.ts'

const json = 'Content-Type: application/json\r\n'
const length = (body: string) => `Content-Length: ${Buffer.byteLength(body)}\r\n`

/** A request as text, on a connection that is closed after its answer unless `keep` says otherwise. */
function request(to: Target, route: string, { more = '', body = '', keep = false } = {}): string {
  const own = rawHeaders(to)
  const headers = keep ? own.replace('Connection: close\r\n', '') : own
  return `${route} HTTP/1.1\r\n${headers}${more}\r\n${body}`
}

function open(port: number): Socket {
  const socket = connect(port, '127.0.0.1')
  socket.on('error', () => undefined)
  onTestFinished(() => void socket.destroy())
  return socket
}

const idsOf = (answers: string) => [...answers.matchAll(/^x-request-id: (\S+)/gim)].map(([, id]) => id)
const statusesOf = (answers: string) =>
  [...answers.matchAll(/HTTP\/1\.1 (\d+) /g)].map(([, status]) => Number(status))

test('TRACE is refused and returns no request header', async () => {
  const target = await openTarget()
  const answer = await target.raw(request(target, 'TRACE /v1/locations', { more: 'X-Canary: blue-bird\r\n' }))
  expect(answer.status).toBe(405)
  expect(answer.text + JSON.stringify([...answer.headers])).not.toContain('blue-bird')
  await target.stands(answer)
})

describe('an ambiguous length is refused with 400, and a hidden request is never executed', () => {
  const chunked = 'Transfer-Encoding: chunked\r\n'
  test.each<[what: string, headers: string]>([
    ['a sign', 'Content-Length: +5\r\n'],
    ['an exponent', 'Content-Length: 1e1\r\n'],
    ['hexadecimal', 'Content-Length: 0x5\r\n'],
    ['a fraction', 'Content-Length: 5.0\r\n'],
    ['23 digits', `Content-Length: ${'9'.repeat(23)}\r\n`],
    ['a list of two', 'Content-Length: 5, 6\r\n'],
    ['a list of one twice', 'Content-Length: 5, 5\r\n'],
    ['nothing', 'Content-Length:\r\n'],
    ['a blank before the colon', 'Content-Length : 5\r\n'],
    ['the same length twice', 'Content-Length: 5\r\nContent-Length: 5\r\n'],
    ['chunks before a length', `${chunked}Content-Length: 5\r\n`],
    ['chunks after a length', `Content-Length: 5\r\n${chunked}`],
    ['chunks that are not the last coding', 'Transfer-Encoding: chunked, identity\r\n'],
    ['a coding that is almost chunked', 'Transfer-Encoding: xchunked\r\n'],
    ['a folded header', 'Transfer-Encoding:\r\n chunked\r\nContent-Length: 5\r\n'],
  ])('%s', async (_what, more) => {
    const target = await openTarget()
    const hidden = request(target, 'PUT /v1/checks/external/hidden', {
      more: json + length(valid),
      body: valid,
    })
    const route = 'PUT /v1/checks/external/a'
    const answer = await target.raw(request(target, route, { more: json + more, body: `0\r\n\r\n${hidden}` }))
    expect(answer.status).toBe(400)
    expect(errorOf(answer).code).toBe('invalid_request')
    expect(answer.headers.get('connection')).toBe('close')
    expect(await checksOf(target)).toEqual([])
    await target.stands(answer)
  })

  test.each(['ZZ', '-1', '0x5', '1 1', 'FFFFFFFFFFFFFFFFF', '', '5\n'])(
    'a chunk of size “%s”',
    async (size) => {
      const target = await openTarget()
      const body = `${size}\r\nhello\r\n0\r\n\r\n`
      const answer = await target.raw(
        request(target, 'PUT /v1/checks/external/a', { more: json + chunked, body }),
      )
      expect(answer.status).toBe(400)
      expect(await checksOf(target)).toEqual([])
      await target.stands(answer)
    },
  )
})

test.each<[what: string, route: string, more: string, statuses: number[]]>([
  ['a header of 17 KiB', 'GET /v1/locations', `X: ${'x'.repeat(17 * 1024)}\r\n`, [431]],
  ['a URL of 17 KiB', `GET /v1/${'x'.repeat(17 * 1024)}`, '', [414, 431]],
  ['3,000 headers', 'GET /v1/locations', 'X-Many: 12\r\n'.repeat(3000), [431]],
  ['15 KiB of headers', 'GET /v1/locations', `X: ${'x'.repeat(15 * 1024)}\r\n`, [200]],
])('%s', async (_what, route, more, statuses) => {
  const target = await openTarget()
  const answer = await target.raw(request(target, route, { more }))
  expect(statuses).toContain(answer.status)
  await target.stands(answer)
})

test('a body is counted in bytes, not in characters', async () => {
  const long = valid.replace('A burger', '🍔'.repeat(50))
  const target = await openTarget({ bodyLimit: Buffer.byteLength(long) })
  const route = 'PUT /v1/checks/external/a'
  expect(await target.call(route, { body: long })).toMatchObject({ status: 201 })
  const answer = await target.call(route, { body: long.replace('🍔', '🍔🍔') })
  expect(answer.status).toBe(413)
  await target.stands(answer)
})

describe('a body of an unsupported type or encoding is refused with 415', () => {
  test.each<[name: string, value: string]>([
    ['Content-Type', 'application/json; charset=utf-16'],
    ['Content-Type', 'application/json; charset=x-user-defined'],
    ['Content-Type', 'application/json; charset=latin1'],
    ['Content-Type', 'application/json; charset='],
    ['Content-Encoding', 'gzip'],
    ['Content-Encoding', 'br'],
    ['Content-Encoding', 'deflate, gzip'],
    ['Content-Encoding', 'nonsense'],
  ])('%s: %s', async (name, value) => {
    const target = await openTarget()
    const headers = { [name]: value }
    const answer = await target.call('PUT /v1/checks/external/a', { body: valid, headers })
    expect(answer.status).toBe(415)
    expect(errorOf(answer).code).toBe('unsupported_media_type')
    expect(await checksOf(target)).toEqual([])
    await target.stands(answer)
  })
})

test.each<[what: string, more: string]>([
  ['Content-Length: 0', 'Content-Length: 0\r\n'],
  ['no length at all', ''],
  ['chunks that end at once', 'Transfer-Encoding: chunked\r\n'],
])('a push with %s is refused with 400', async (_what, more) => {
  const target = await openTarget()
  const body = more.startsWith('T') ? '0\r\n\r\n' : ''
  const answer = await target.raw(request(target, 'PUT /v1/checks/external/a', { more: json + more, body }))
  expect(answer.status).toBe(400)
  expect(errorOf(answer).code).toBe('invalid_json')
  await target.stands(answer)
})

describe('a body of a GET', () => {
  test('a GET with a body is answered as without it, and the service reads the next request correctly', async () => {
    const target = await openTarget()
    const first = request(target, 'GET /v1/locations', {
      more: json + length(valid),
      body: valid,
      keep: true,
    })
    const socket = open(target.port)
    socket.write(first + request(target, 'GET /v1/checks'))
    expect(statusesOf(await text(socket))).toEqual([200, 200])
    await target.stands()
  })

  test('Expect: 100-continue is answered with 100, and then with the response', async () => {
    const target = await openTarget()
    const more = `${json}${length(valid)}Expect: 100-continue\r\n`
    const socket = open(target.port)
    socket.write(request(target, 'PUT /v1/checks/external/a', { more }))
    const [go] =
      (await new Promise<Buffer[]>((resolve) => socket.once('data', (data) => resolve([data])))) ?? []
    expect(go?.toString()).toMatch(/^HTTP\/1\.1 100 /)
    socket.write(valid)
    expect(statusesOf(await text(socket))).toEqual([201])
    await target.stands()
  })
})

test('hundreds of clients that disconnect within a body leave nothing behind', async () => {
  const target = await openTarget()
  const stream = await openStream(target)
  const connections = () => process.getActiveResourcesInfo().filter((name) => name === 'TCPSocketWrap').length
  const before = connections()
  const more = `${json}Content-Length: 50\r\nExpect: 100-continue\r\n`
  for (let round = 0; round < (isSoak ? 20 : 5); round++) {
    for (let n = 0; n < 50; n++) {
      const socket = connect(target.port, '127.0.0.1')
      socket.on('error', () => undefined)
      socket.once('data', () => socket.write('{"a', () => socket.resetAndDestroy()))
      socket.write(request(target, 'PUT /v1/checks/external/a', { more }))
    }
    for (const { type, data } of await stream.take(50))
      expect({ type, data }).toMatchObject({ type: 'request', data: { status: 400, push: null } })
  }
  expect(await checksOf(target)).toEqual([])
  await target.stands()
  // A few connections of this test's own client may be kept alive.
  expect(connections() - before).toBeLessThan(20)
})

test('hundreds of clients that never end their headers get 408, and others are served meanwhile', async () => {
  const target = await openTarget({ connectionLimits: { firstRequestMs: 500 } })
  const slow = Array.from({ length: 300 }, () => {
    const socket = open(target.port)
    socket.write('GET /v1/locations HTTP/1.1\r\nX-Slow: ')
    return text(socket)
  })
  await target.stands()
  for (const answer of await Promise.all(slow)) {
    expect(statusesOf(answer)).toEqual([408])
    expect(idsOf(answer)).toHaveLength(1)
  }
  await target.stands()
})

test.each<[what: string, begin: (to: Target) => string]>([
  ['a body', (to) => request(to, 'PUT /v1/checks/external/a', { more: `${json}Content-Length: 50\r\n` })],
  ['a further request', (to) => `${request(to, 'GET /_sim/health', { keep: true })}GET /v1/loc`],
])('a client that never ends %s gets 408', async (_what, begin) => {
  const target = await openTarget({ connectionLimits: { headersMs: 300, requestMs: 300 } })
  const socket = open(target.port)
  socket.write(begin(target))
  const answer = await text(socket)
  expect(statusesOf(answer).at(-1)).toBe(408)
  expect(idsOf(answer)).toHaveLength(statusesOf(answer).length)
  await target.stands()
})

describe('pipelined requests', () => {
  test('requests sent without waiting are answered in their order', async () => {
    const target = await openTarget()
    const put = (id: string) =>
      request(target, `PUT /v1/checks/external/${id}`, {
        more: json + length(valid),
        body: valid,
        keep: true,
      })
    const socket = open(target.port)
    socket.write(put('a') + put('b') + put('a') + request(target, 'GET /v1/nothing'))
    const answers = await text(socket)
    expect(statusesOf(answers)).toEqual([201, 201, 200, 404])
    expect([...answers.matchAll(/"external_id":"([ab])"/g)].map(([, id]) => id)).toEqual(['a', 'b', 'a'])
    expect(new Set(idsOf(answers)).size).toBe(4)
    await target.stands()
  })

  test('a thousand requests of one connection have a thousand ids, each once in the log', async () => {
    const target = await openTarget()
    const socket = open(target.port)
    const one = request(target, 'GET /v1/checks?limit=1', { keep: true })
    socket.write(one.repeat(999) + request(target, 'GET /v1/checks?limit=1'))
    const answered = idsOf(await text(socket))
    expect(new Set(answered).size).toBe(1000)
    const logged: string[] = []
    for (let cursor = ''; logged.length === 0 || cursor !== '';) {
      const route = `GET /_sim/requests?limit=100${cursor === '' ? '' : `&cursor=${cursor}`}`
      const page = (await target.call(route)).json as { data: { id: string }[]; next_cursor: string | null }
      logged.push(...page.data.map(({ id }) => id))
      cursor = page.next_cursor ?? ''
    }
    expect(logged.toReversed()).toEqual(answered)
    await target.stands()
  })
})

test('the service listens on 127.0.0.1 only', async () => {
  const target = await openTarget()
  const others = Object.values(networkInterfaces())
    .flatMap((list) => list ?? [])
    .filter(({ address, family }) => family === 'IPv4' && address !== '127.0.0.1')
    .map(({ address }) => address)
  for (const address of ['127.0.0.2', ...others]) {
    const socket = connect(target.port, address)
    const outcome = await new Promise((resolve) => {
      socket.once('connect', () => resolve('connected')).once('error', () => resolve('refused'))
    })
    socket.destroy()
    expect({ address, outcome }).toEqual({ address, outcome: 'refused' })
  }
  await target.stands()
})
