import { once } from 'node:events'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { describe, expect, it } from 'vitest'
import {
  check,
  errorOf,
  item,
  openSimulator,
  openStream,
  rawHeaders,
  type TestSimulator,
} from '../support/simulator.ts'

const route = 'PUT /v1/checks/external/a'
const MIB = 1024 * 1024
const valid = JSON.stringify(check())
const bytes = (...parts: (string | number[])[]) =>
  Buffer.concat(parts.map((part) => Buffer.from(part as string)))
const nested = (depth: number) => `{"deep":${'['.repeat(depth - 1)}${']'.repeat(depth - 1)},${valid.slice(1)}`

describe('a body', () => {
  it.each<[what: string, body: string | Uint8Array]>([
    ['a byte-order mark', `\uFEFF${valid}`],
    ['a byte-order mark of UTF-16', bytes([0xff, 0xfe], Buffer.from(valid, 'utf16le').toString('latin1'))],
    ['a byte that is no UTF-8', bytes('{"a":"', [0xff], '"}')],
    ['Latin-1', bytes('{"a":"caf', [0xe9], '"}')],
    ['an overlong sequence', bytes('{"a":"', [0xc0, 0xaf], '"}')],
    ['a surrogate in UTF-8', bytes('{"a":"', [0xed, 0xa0, 0x80], '"}')],
    ['half of a character at its end', bytes('"', [0xe2, 0x82])],
    ['nothing', ''],
    ['blanks alone', ' \n '],
    ['half of an object', valid.slice(0, -1)],
    ['something after the object', `${valid}x`],
    ['two objects', valid + valid],
    ['single quotes', "{'a':1}"],
    ['a comment', `/* check */${valid}`],
    ['a comma too many', '{"a":1,}'],
    ['NaN', '{"a":NaN}'],
    ['a raw line feed in a string', '{"a":"\n"}'],
    ['a zero byte', `${valid}\0`],
    ['half of a surrogate pair', String.raw`{"name":"Zo\ud83c"}`],
    ['half of a surrogate pair in a name', String.raw`{"a\uDF63":1}`],
    ['33 levels', nested(33)],
    ['a million levels', '['.repeat(MIB - 1)],
  ])('with %s is 400 invalid_json', async (_what, body) => {
    const simulator = await openSimulator()
    const answer = await simulator.call(route, { body })
    expect(answer.status).toBe(400)
    expect(errorOf(answer).code).toBe('invalid_json')
    expect((await simulator.client.checks.list()).data).toEqual([])
  })

  it.each([
    ['a pair', String.raw`\ud83c\udf63`, '\u{1f363}'],
    ['a backslash before ud83c', String.raw`\\ud83c`, String.raw`\ud83c`],
  ])('with %s in a text is accepted', async (_what, escaped, text) => {
    const { call } = await openSimulator()
    const answer = await call(route, { body: valid.replace(/"note":(null|"[^"]*")/, `"note":"${escaped}"`) })
    expect(answer.status).toBe(201)
    expect((answer.json as { items: { note: string }[] }).items[0]?.note).toBe(text)
  })

  it.each([
    ['nothing', ''],
    ['blanks alone', ' \n '],
  ])('with %s is refused as empty', async (_what, body) => {
    const { call } = await openSimulator()
    const { message } = errorOf(await call(route, { body }))
    expect(message).toBe('The body is empty. Send a JSON object, such as {}.')
  })

  it.each<[body: string | Uint8Array, place: string, advice: string]>([
    ['{"a":1,\n}', 'line 2, column 1', 'Remove the comma before }.'],
    ['[1,]', 'line 1, column 4', 'Remove the comma before ].'],
    ["{'a':1}", 'line 1, column 2', "This looks like Python's repr. Use json.dumps."],
    ['{"a":None}', 'line 1, column 6', "This looks like Python's repr. Use json.dumps."],
    ['{"a":\n True}', 'line 2, column 2', "This looks like Python's repr. Use json.dumps."],
    ['{"a":False}', 'line 1, column 6', "This looks like Python's repr. Use json.dumps."],
    ['{"a":NaN}', 'line 1, column 6', 'JSON has neither NaN nor Infinity. Send a number.'],
    ['{"a"=>1}', 'line 1, column 5', "This looks like Ruby's inspect. Use to_json."],
    ['{:a=>1}', 'line 1, column 2', "This looks like Ruby's inspect. Use to_json."],
    ['{"a":14,50}', 'line 1, column 9', 'Numbers have a decimal point, not a comma.'],
    [
      '--x\r\nContent-Disposition: form-data',
      'line 1, column 2',
      'This looks like a multipart form. Send JSON.',
    ],
    [Buffer.from(valid, 'utf16le'), 'line 1, column 2', 'This looks like UTF-16. Encode the body as UTF-8.'],
    ['{"a":"twk_secret', 'line 1, column 17', ''],
    ['{"a":"ü"', 'line 1, column 9', 'It ends too early. Content-Length must count bytes, not characters.'],
  ])('that is %s is refused with place and advice, and not quoted', async (body, place, advice) => {
    const { call } = await openSimulator()
    const { message } = errorOf(await call(route, { body }))
    expect(message).toContain(` at ${place}.${advice === '' ? '' : ` ${advice}`}`)
    expect(message.endsWith(advice)).toBe(true)
    expect(message).not.toMatch(/secret|None|form-data/)
  })

  it.each<[body: Uint8Array, message: string]>([
    [bytes([0x1f, 0x8b, 8]), 'The body is compressed. Send it without compression.'],
    [bytes([0xff, 0xfe, 0x7b]), 'The body is UTF-16. Encode it as UTF-8, without a byte-order mark.'],
    [bytes([0x7b, 0xff]), 'The body is not valid UTF-8. Encode it as UTF-8, without a byte-order mark.'],
    [
      bytes([0x22, 0xc3]),
      'The body ends in the middle of a character. Content-Length must count bytes, not characters.',
    ],
    [
      bytes([0x22, 0xfc, 0x22]),
      'The body is not valid UTF-8. Encode it as UTF-8, without a byte-order mark.',
    ],
  ])('that is not UTF-8, %j, is refused with advice', async (body, message) => {
    const { call } = await openSimulator()
    expect(errorOf(await call(route, { body })).message).toBe(message)
  })

  it.each<[what: string, body: string]>([
    ['32 levels', nested(32)],
    [
      'brackets in strings, which do not nest',
      `{"deep":"${'[{'.repeat(50)}\\"${'['.repeat(50)}",${valid.slice(1)}`,
    ],
    ['white space around it', ` \r\n\t${valid}\n`],
    ['escapes', valid.replace('burger', '\\u0062urger')],
    ['an own __proto__', `{"__proto__":{"status":"closed"},${valid.slice(1)}`],
  ])('with %s is accepted', async (_what, body) => {
    const simulator = await openSimulator()
    const answer = await simulator.call(route, { body })
    expect(answer.status).toBe(201)
    expect(answer.json).toMatchObject({ status: 'open', items: [{ external_id: 'burger' }] })
  })

  it('that repeats a key counts with its last value', async () => {
    const simulator = await openSimulator()
    const { json } = await simulator.call(route, {
      body: valid.replace('"status"', '"status":"closed","status"'),
    })
    expect(json).toMatchObject({ status: 'open' })
  })

  it.each(['null', 'true', '1', '"text"', '[]', '[{}]'])('that is the JSON text %s is 422', async (body) => {
    const simulator = await openSimulator()
    const answer = await simulator.call(route, { body })
    expect(answer.status).toBe(422)
    expect(errorOf(answer)).toMatchObject({ code: 'validation_failed', issues: [{ path: 'body' }] })
  })

  it.each([
    'application/json',
    'application/json; charset=utf-8',
    'application/json;charset=UTF-8',
    'application/json; charset=utf8',
    'application/json; charset="UTF8"',
    'application/json ; charset="utf-8"',
    'Application/JSON',
    'application/json; version=1',
  ])('of type %s is read', async (type) => {
    const simulator = await openSimulator()
    expect(await simulator.call(route, { body: valid, headers: { 'content-type': type } })).toMatchObject({
      status: 201,
    })
  })

  it.each([
    'text/plain',
    'text/json',
    'application/jsonp',
    'application/json-patch+json',
    'application/vnd.api+json',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    'x; application/json',
    '*/*',
  ])('of type %s is 415', async (type) => {
    const simulator = await openSimulator()
    const answer = await simulator.call(route, { body: valid, headers: { 'content-type': type } })
    expect(answer.status).toBe(415)
    expect(errorOf(answer).code).toBe('unsupported_media_type')
  })

  it('of no type is 415', async () => {
    const simulator = await openSimulator()
    const answer = await simulator.raw(
      `PUT /v1/checks/external/a HTTP/1.1\r\n${rawHeaders(simulator)}Content-Length: 2\r\n\r\n{}`,
    )
    expect(answer.status).toBe(415)
  })
})

describe('a body of 1 MiB', () => {
  const sized = (size: number) => valid + ' '.repeat(size - valid.length)
  const head = (to: TestSimulator, more: string) =>
    `PUT /v1/checks/external/a HTTP/1.1\r\n${rawHeaders(to)}Content-Type: application/json\r\n${more}\r\n\r\n`
  const chunk = (text: string) => `${text.length.toString(16)}\r\n${text}\r\n`

  it.each([
    [MIB - 1, 201],
    [MIB, 201],
    [MIB + 1, 413],
    [5 * MIB, 413],
  ])('or another size, %i bytes, is %i, with a Content-Length', async (size, status) => {
    const simulator = await openSimulator()
    expect(await simulator.call(route, { body: sized(size) })).toMatchObject({ status })
  })

  it.each([
    [MIB - 1, 201],
    [MIB, 201],
    [MIB + 1, 413],
    [5 * MIB, 413],
  ])('or another size, %i bytes, is %i, in chunks', async (size, status) => {
    const simulator = await openSimulator()
    const parts = sized(size).match(/[^]{1,65537}/g) ?? []
    const answer = await simulator.raw(
      head(simulator, 'Transfer-Encoding: chunked'),
      parts.map(chunk).join(''),
      '0\r\n\r\n',
    )
    expect(answer.status).toBe(status)
  })

  it('is refused when announced, before its first byte', async () => {
    const simulator = await openSimulator()
    const answer = await simulator.raw(head(simulator, `Content-Length: ${MIB + 1}`))
    expect(answer.status).toBe(413)
    expect(errorOf(answer)).toMatchObject({ code: 'payload_too_large', limit: MIB })
  })

  it('is refused while it is read, even when it never ends', async () => {
    const simulator = await openSimulator()
    const answer = await simulator.raw(
      head(simulator, 'Transfer-Encoding: chunked'),
      chunk(' '.repeat(MIB + 1)),
    )
    expect(answer.status).toBe(413)
    expect(answer.headers.get('connection')).toBe('close')
  })

  it('is the default limit, and a setting changes it', async () => {
    const simulator = await openSimulator({ bodyLimit: valid.length })
    expect(await simulator.call(route, { body: valid })).toMatchObject({ status: 201 })
    expect(await simulator.call(route, { body: `${valid} ` })).toMatchObject({ status: 413 })
  })

  it('may contain 1,000 items', async () => {
    const simulator = await openSimulator()
    const items = Array.from({ length: 1000 }, (_, index) =>
      item(`item-${index}`, { name: '🍮'.repeat(100) }),
    )
    const answer = await simulator.push('a', { items })
    expect(answer.status).toBe(201)
  })
})

describe('Expect: 100-continue', () => {
  const head = (to: TestSimulator, path: string, more: string) =>
    `PUT ${path} HTTP/1.1\r\n${rawHeaders(to).replace('Connection: close\r\n', '')}Expect: 100-continue\r\n${more}\r\n\r\n`
  const json = 'Content-Type: application/json\r\nContent-Length'

  it.each<[status: number, change: (to: TestSimulator) => string]>([
    [401, (to) => head({ ...to, apiKey: 'wrong' }, '/v1/checks/external/a', `${json}: 50`)],
    [401, (to) => head({ ...to, apiKey: 'wrong' }, '/v1/checks/external/a', `${json}: ${2 * MIB}`)],
    [404, (to) => head(to, '/v1/nothing', `${json}: 50`)],
    [405, (to) => head(to, '/v1/locations', `${json}: 50`)],
    [413, (to) => head(to, '/v1/checks/external/a', `${json}: ${MIB + 1}`)],
    [415, (to) => head(to, '/v1/checks/external/a', 'Content-Type: text/plain\r\nContent-Length: 50')],
    [415, (to) => head(to, '/_sim/state', 'Content-Type: text/plain\r\nContent-Length: 50')],
    [400, (to) => head(to, '/v1/checks/external/a#b', `${json}: 50`)],
    [403, (to) => head({ ...to, apiKey: 'x\r\nOrigin: http://foreign.example' }, '/v1/a', `${json}: 50`)],
  ])('gets the final status %i instead of 100, and the connection ends', async (status, change) => {
    const simulator = await openSimulator()
    const socket = connect(simulator.port, '127.0.0.1')
    socket.write(change(simulator))
    const answer = await text(socket)
    expect(answer).toMatch(new RegExp(`^HTTP/1.1 ${status} `))
    expect(answer).toMatch(/^connection: close\r$/im)
    expect(answer).not.toContain('100 Continue')
  })

  it('gets 100 only when the body is read, after injected delays', async () => {
    const simulator = await openSimulator()
    await simulator.client.faults.set({ faults: [{ on: 'api', latency_ms: 50, paths: ['/v1/*'] }] })
    const socket = connect(simulator.port, '127.0.0.1')
    const answer = text(socket)
    socket.write(
      `${head(simulator, '/v1/checks/external/a', `${json}: ${valid.length}\r\nConnection: close`)}${valid}`,
    )
    expect((await answer).match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 100', 'HTTP/1.1 201'])
  })

  it('is waited for while a delay lasts longer than the limit for a request', async () => {
    const limits = { firstRequestMs: 300, headersMs: 300, requestMs: 300 }
    const simulator = await openSimulator({ connectionLimits: limits })
    await simulator.client.faults.set({ faults: [{ on: 'api', latency_ms: 800, paths: ['/v1/*'] }] })
    const socket = connect(simulator.port, '127.0.0.1')
    const answer = text(socket)
    socket.once('data', () => socket.write(valid))
    socket.write(head(simulator, '/v1/checks/external/a', `${json}: ${valid.length}\r\nConnection: close`))
    expect((await answer).match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 100', 'HTTP/1.1 201'])
  })
})

describe('a refused body that the client sends whole before it reads', () => {
  /** Sends a request without reading, and then reads the response. */
  async function sendThenRead(simulator: TestSimulator, more: string, size: number) {
    const socket = connect({ port: simulator.port, host: '127.0.0.1' })
    socket.on('error', () => undefined).pause()
    socket.write(
      `PUT /v1/checks/external/a HTTP/1.1\r\n${more}Content-Type: application/json\r\nContent-Length: ${size}\r\n\r\n`,
    )
    const part = Buffer.alloc(MIB / 4, ' ')
    let sent = 0
    for (; sent < size && !socket.destroyed; sent += part.length)
      await new Promise((resolve) => socket.write(part, resolve))
    return { sent, answer: await text(socket).catch(String) }
  }

  it.each([
    ['401', 'Authorization: Bearer wrong\r\n'],
    ['413', ''],
    ['413', 'Connection: close\r\n'],
  ])('gets the answer %s, with the headers %j', async (status, more) => {
    const simulator = await openSimulator()
    const own = rawHeaders(simulator).replace('Connection: close\r\n', '')
    const headers = more.startsWith('Auth') ? `Host: 127.0.0.1:${simulator.port}\r\n` : own
    const { answer } = await sendThenRead(simulator, headers + more, 8 * MIB)
    expect(answer).toMatch(new RegExp(`^HTTP/1.1 ${status} `))
    expect(answer).toMatch(/^connection: close\r$/im)
  })

  it('keeps the connection for the next request when it is short', async () => {
    const simulator = await openSimulator()
    const host = `Host: 127.0.0.1:${simulator.port}\r\n`
    const socket = connect(simulator.port, '127.0.0.1')
    const answers = text(socket)
    socket.once('data', () => socket.write(`GET /v1/locations HTTP/1.1\r\n${rawHeaders(simulator)}\r\n`))
    socket.write(`PUT /v1/checks/external/a HTTP/1.1\r\n${host}Content-Length: 2\r\n\r\n{}`)
    expect((await answers).match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 401', 'HTTP/1.1 200'])
  })

  it('is awaited before the connection ends, as the client asked', async () => {
    const simulator = await openSimulator()
    const host = `Host: 127.0.0.1:${simulator.port}\r\nConnection: close\r\n`
    const socket = connect(simulator.port, '127.0.0.1')
    const answer = text(socket)
    socket.write(`PUT /v1/checks/external/a HTTP/1.1\r\n${host}Content-Length: 2\r\n\r\n{`)
    await once(socket, 'data')
    await simulator.call('GET /v1/locations')
    expect(socket.readableEnded).toBe(false)
    socket.write('}')
    expect(await answer).toMatch(/^HTTP\/1\.1 401 /)
  })

  it('is cut off when it does not end', async () => {
    const simulator = await openSimulator()
    const headers = `Host: 127.0.0.1:${simulator.port}\r\n`
    const { sent } = await sendThenRead(simulator, headers, 512 * MIB)
    expect(sent).toBeLessThan(128 * MIB)
    expect(await simulator.call('GET /v1/locations')).toMatchObject({ status: 200 })
  })

  it('to HEAD gets the headers, and the connection ends', async () => {
    const simulator = await openSimulator()
    const answer = await simulator.raw(
      `HEAD /v1/locations HTTP/1.1\r\nHost: 127.0.0.1:${simulator.port}\r\nContent-Length: ${2 * MIB}\r\n\r\n`,
    )
    expect([answer.status, answer.text]).toEqual([401, ''])
  })
})

describe('a body of 100 MB that is refused before it is read', () => {
  it.each(['401', '404'])('is not read after the answer %s', async (status) => {
    const simulator = await openSimulator()
    const authorization = status === '401' ? 'none' : `Bearer ${simulator.apiKey}`
    const host = `127.0.0.1:${simulator.port}`
    const socket = connect(simulator.port, '127.0.0.1').on('error', () => undefined)
    socket.write(
      `PUT /v1/nothing HTTP/1.1\r\nHost: ${host}\r\nAuthorization: ${authorization}\r\nContent-Length: 100000000\r\n\r\n`,
    )
    const answer = await text(socket)
    expect(answer).toMatch(new RegExp(`^HTTP/1.1 ${status} `))
    expect(answer).toMatch(/^connection: close\r$/im)
  })
})

describe('a client that disconnects', () => {
  const head = (to: TestSimulator, length: number) =>
    `PUT /v1/checks/external/a HTTP/1.1\r\n${rawHeaders(to)}Content-Type: application/json\r\nContent-Length: ${length}\r\nExpect: 100-continue\r\n\r\n`

  it('within a body changes nothing and reports no bug', async () => {
    const simulator = await openSimulator()
    const stream = await openStream(simulator)
    const socket = connect(simulator.port, '127.0.0.1')
    socket.write(`${head(simulator, 1000)}${valid}`)
    socket.once('data', () => socket.destroy()) // 100 Continue: the request is being read
    expect(await stream.next()).toMatchObject({ type: 'request', data: { status: 400, push: null } })
    expect((await simulator.client.checks.list()).data).toEqual([])
  })

  it.each([0, 1])('before its body is read, of which %i bytes are missing, is logged', async (missing) => {
    const simulator = await openSimulator()
    await simulator.client.faults.set({ faults: [{ on: 'api', latency_ms: 200, paths: ['/v1/*'] }] })
    const stream = await openStream(simulator)
    const socket = connect(simulator.port, '127.0.0.1')
    socket.write(`${head(simulator, valid.length + missing)}${valid}`)
    await simulator.client.clock.show() // By then the request waits.
    socket.resetAndDestroy()
    expect(await stream.next()).toMatchObject({ type: 'request', data: { status: 400, push: null } })
  })
})
