import type { RequestListener, ServerResponse } from 'node:http'
import { createServer as createTcpServer, type AddressInfo } from 'node:net'
import { Agent, getGlobalDispatcher, setGlobalDispatcher } from 'undici'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  ApiError,
  type Client,
  type ClientOptions,
  createClient,
  TimedOut,
  Unreachable,
  type StreamMessage,
} from '../src/client.ts'
import { createCall, createSend } from '../src/client/transport.ts'
import { startSimulator, type StartedSimulator } from '../src/simulator.ts'
import { checkBody } from './support/cli.ts'
import { openHttpServer } from './support/http-server.ts'

let simulator: StartedSimulator
beforeAll(async () => void (simulator = await startSimulator({ port: 0 })))
afterAll(() => simulator.close())

/** The URL of a server that is not ours, and does as it likes. */
async function stranger(listener: RequestListener): Promise<string> {
  return (await openHttpServer(listener)).url
}

describe('the client', () => {
  test.each(['', '/', '/v1', '/v1/', '/v1//'])(
    'takes the URL of the service with %j at its end',
    async (end) => {
      const client = createClient({ url: simulator.url + end, apiKey: simulator.apiKey })
      expect((await client.locations.list()).data).toHaveLength(2)
    },
  )

  test('pushes a check with any id and reads the same check', async () => {
    const client = createClient(simulator)
    const { status, check, requestId } = await client.checks.push('a/b ü?#', JSON.stringify(checkBody()))
    expect(status).toBe(201)
    expect(await client.checks.get('a/b ü?#')).toEqual(check)
    expect(await client.requests.get(requestId ?? '')).toMatchObject({ push: { outcome: 'created' } })
    expect(await client.checks.list({ limit: 1, status: undefined })).toMatchObject({ data: [check] })
  })

  test('follows no redirect, and says where it leads', async () => {
    const paths: string[] = []
    const url = await stranger(({ url: path = '' }, response) => {
      paths.push(path)
      response.writeHead(308, { location: 'https://pos.example/v1/locations' }).end()
    })
    await expect(createClient({ url }).locations.list()).rejects.toMatchObject({
      status: 308,
      message: 'The service redirects to https://pos.example/v1/locations. Use the URL that it redirects to.',
    })
    expect(paths).toEqual(['/v1/locations'])
  })

  test.each(['.', '..'])('refuses the id %s, which a URL would resolve', async (id) => {
    await expect(createClient(simulator).checks.get(id)).rejects.toThrow(`An id must not be ${id} here`)
  })

  test('says that a service does not speak HTTPS', async () => {
    const url = simulator.url.replace('http:', 'https:')
    await expect(createClient({ url }).locations.list()).rejects.toThrow(
      `No service answers at ${url} (it does not speak HTTPS).`,
    )
  })

  test('says that Node.js sends nothing to a port, as browsers do', async () => {
    await expect(createClient({ url: 'http://127.0.0.1:6000' }).locations.list()).rejects.toThrow(
      'No service answers at http://127.0.0.1:6000 (Node.js and browsers refuse requests to this port).',
    )
  })

  test.each([
    ['by a port', () => ({ url: simulator.url, apiKey: simulator.apiKey })],
    ['in this process', () => simulator],
  ])('rejects with the error of a state that cannot be read to its end, %s', async (_way, service) => {
    const broken = new Error('EIO: i/o error, read')
    async function* half() {
      yield Buffer.from('{')
      throw broken
    }
    await expect(createClient(service()).state.load(half())).rejects.toBe(broken)
  })

  test.each<[string, (client: Client) => unknown, string]>([
    [
      'no body',
      ({ checks }) => checks.push('t', undefined as never),
      'The body must be an object or a JSON text, got undefined.',
    ],
    [
      'no faults',
      ({ faults }) => faults.set(undefined as never),
      'The body must be an object or a JSON text, got undefined.',
    ],
    [
      'no state',
      ({ state }) => state.load(undefined as never),
      'The state must be an object or a JSON text, got undefined.',
    ],
    [
      'no id',
      ({ checks }) => checks.get(undefined as never),
      'An id must be a text of at least 1 character, got undefined.',
    ],
    [
      'an empty id',
      ({ checks }) => checks.push('', '{}'),
      'An id must be a text of at least 1 character, got "".',
    ],
    [
      'a record without an id',
      ({ guests }) => guests.pay({} as never),
      'An id must be a text of at least 1 character, got undefined.',
    ],
    [
      'no check',
      ({ guests }) => guests.pay(undefined as never),
      'An id must be a text of at least 1 character, got undefined.',
    ],
    ['no claim', ({ guests }) => guests.claim('t', undefined as never), 'Invalid body: items is required.'],
    ['no rating', ({ guests }) => guests.rate('t', undefined as never), 'Invalid body: rating is required.'],
    [
      'no endpoint with a secret',
      ({ endpoints }) => endpoints.createWithSecret(undefined as never),
      'Invalid body: url is required',
    ],
    [
      'a signal that is a text',
      ({ checks }) => checks.list({}, { signal: 'stop' as never }),
      'signal must be an AbortSignal, got "stop".',
    ],
    [
      'a controller in place of its signal',
      ({ deliveries }) => deliveries.waitFor({ signal: new AbortController() as never }),
      'signal must be an AbortSignal, got an AbortController; pass its property signal.',
    ],
    [
      'a stream with a controller in place of its signal',
      ({ stream }) => stream({ signal: new AbortController() as never }).next(),
      'signal must be an AbortSignal, got an AbortController; pass its property signal.',
    ],
    [
      'a stream with a misspelt option',
      ({ stream }) => stream({ sinal: AbortSignal.abort() } as never).next(),
      'unknown option "sinal", did you mean "signal"?',
    ],
    [
      'a relative path',
      ({ request }) => request('GET', 'v1/checks'),
      'The path must begin with /, got "v1/checks".',
    ],
    [
      'no time',
      ({ report }) => report({} as never),
      'A time must be a Date, milliseconds since 1970, or an ISO 8601 text, got {}.',
    ],
  ])('names an argument that is missing or of a wrong kind: %s', async (_what, call, message) => {
    await expect(async () => call(createClient(simulator))).rejects.toThrow(message)
  })

  test('returns a stream for a wrong time too, which then rejects', async () => {
    const stream = createClient(simulator).stream({ since: Number.NaN })
    await expect(stream.next()).rejects.toThrow(RangeError)
  })

  test.each([[undefined], ['service'], ['localhost:4100']])('refuses the URL %j', (url?: string) => {
    const shown = JSON.stringify(url) as string | undefined
    expect(() => createClient({ url } as ClientOptions)).toThrow(
      `url must be the http: or https: URL of a service, such as http://127.0.0.1:4100, got ${shown ?? 'undefined'}.`,
    )
  })

  test('creates a key with all scopes by default', async () => {
    const { scopes } = await createClient(simulator).keys.create()
    expect(scopes).toHaveLength(3)
  })

  test('needs options', () => {
    expect(() => createClient(undefined as never)).toThrow('options must be an object, got undefined.')
  })

  test('rejects with ApiError for a refusal: status, code, request id, and the whole body', async () => {
    const wrong = createClient({ url: simulator.url, apiKey: 'twk_wrong' })
    const refused = await wrong.locations.list().catch((error: unknown) => error)
    expect(refused).toBeInstanceOf(ApiError)
    expect(refused).toMatchObject({
      name: 'ApiError',
      status: 401,
      code: 'unauthorized',
      requestId: expect.stringMatching(/^req_/) as string,
    })
    const invalid = await createClient(simulator)
      .checks.push('x', '{}')
      .catch((error: unknown) => error)
    expect(invalid).toMatchObject({
      status: 422,
      code: 'validation_failed',
      body: { issues: expect.any(Array) as unknown[] },
    })
  })

  test.each([
    [
      502,
      'A proxy answered in place of the service: the response has no X-Request-Id. Check that the service',
    ],
    [
      404,
      'A proxy or another server answered: the response has no X-Request-Id. Check the URL and the proxy.',
    ],
    [413, 'A proxy refused the length of the request: the response has no X-Request-Id. Raise its limit'],
  ])('rejects with ApiError for the page of a proxy with status %i', async (status, message) => {
    const url = await stranger((_request, response) => response.writeHead(status).end('<h1>Sorry</h1>'))
    const error = createClient({ url }).locations.list()
    await expect(error).rejects.toMatchObject({ status, code: 'unknown_error', requestId: null })
    await expect(error).rejects.toThrow(message)
  })

  test('names %2F when a proxy does not find a path that contains it', async () => {
    const url = await stranger((_request, response) => response.writeHead(404).end('<h1>Not found</h1>'))
    const { checks } = createClient({ url })
    await expect(checks.get('a/b')).rejects.toThrow('that the proxy passes %2F in paths on')
    await expect(checks.get('a')).rejects.toThrow('Check the URL and the proxy.')
  })

  test.each([
    [{ 'x-request-id': 'r1' }, '<h1>Sorry</h1>', 'The service answered 500.'],
    [{}, '{"error":{"message":"Out of order."}}', 'Out of order.'],
  ])('blames no proxy for a response with %j and the body %s', async (headers, body, message) => {
    const url = await stranger((_request, response) => response.writeHead(500, headers).end(body))
    await expect(createClient({ url }).locations.list()).rejects.toThrow(message)
  })

  test.each(['<html>', ''])('rejects a response that is not JSON: %j', async (body) => {
    const url = await stranger((_request, response) => response.writeHead(200).end(body))
    const client = createClient({ url })
    await expect(client.checks.get('a')).rejects.toThrow(
      `The response to GET /v1/checks/external/a is not JSON, so another server answers at ${url}.`,
    )
    await expect(client.checks.push('a', '{}')).rejects.toThrow(ApiError)
    await expect(client.deliveries.waitFor({ timeout: 0 })).rejects.toMatchObject({
      status: 200,
      code: 'unknown_error',
    })
    expect(await client.request('GET', '/page')).toMatchObject({ status: 200, json: body })
  })

  test('takes an empty response to a push for that of a service only with X-Request-Id', async () => {
    const answering = (headers: Record<string, string>) =>
      stranger((_request, response) => response.writeHead(204, headers).end())
    const service = createClient({ url: await answering({ 'x-request-id': 'r1' }) })
    await expect(service.checks.push('a', '{}')).resolves.toMatchObject({ status: 204 })
    const proxy = createClient({ url: await answering({}) })
    await expect(proxy.checks.push('a', '{}')).rejects.toThrow(
      'The response to PUT /v1/checks/external/a has no X-Request-Id, so another server answers at',
    )
  })

  test.each([
    ['null', 'is not a JSON object'],
    ['7', 'is not a JSON object'],
  ])('rejects the response %s to a read', async (body, reason) => {
    const url = await stranger((_request, response) => response.writeHead(200).end(body))
    await expect(createClient({ url }).checks.get('a')).rejects.toThrow(
      `The response to GET /v1/checks/external/a ${reason}, so another server answers at ${url}.`,
    )
  })

  test('rejects a response of another server that answers the paths of a simulator', async () => {
    const url = await stranger((_request, response) => response.writeHead(200).end('{"status":"ok"}'))
    const client = createClient({ url })
    await expect(client.clock.show()).rejects.toThrow(
      `The response to GET /_sim/clock has no X-Request-Id, so another server answers at ${url}. Check the URL and the port.`,
    )
    await expect(client.guests.pay('a')).rejects.toThrow('has no X-Request-Id')
  })

  test('refuses misspelt options', () => {
    expect(() => createClient({ url: 'http://127.0.0.1', apikey: 'x', Ca: 'y' } as never)).toThrow(
      'unknown option "apikey", did you mean "apiKey"?\nunknown option "Ca", did you mean "ca"?',
    )
    expect(createClient({ url: 'http://127.0.0.1', pid: 1 } as never)).toHaveProperty('checks')
  })

  describe('at a service that does not respond', () => {
    const silent = async () => createClient({ url: await stranger(() => {}) })

    test.each<[string, (client: Client, timeout: number) => Promise<unknown>]>([
      ['deliveries.waitFor', (client, timeout) => client.deliveries.waitFor({ timeout })],
      ['deliveries.none', (client, timeout) => client.deliveries.none({ timeout })],
      ['events.waitFor', (client, timeout) => client.events.waitFor('check.created', { timeout })],
      ['checks.push', (client, timeout) => client.checks.push('a', '{}', { timeout })],
      ['checks.list', (client, timeout) => client.checks.list({}, { timeout })],
    ])('%s ends after its timeout', async (_name, call) => {
      await expect(call(await silent(), 700)).rejects.toThrow(TimedOut)
    })

    test.each<[string, string, (client: Client) => Promise<unknown>]>([
      ['a read', '.', (client) => client.checks.list({}, { timeout: 20 })],
      [
        'a push',
        '. The request may still take effect.',
        (client) => client.checks.push('a', '{}', { timeout: 20 }),
      ],
      ['a move', ' and stopped the operation.', (client) => client.clock.advance('1m', { timeout: 20 })],
    ])('%s says what the service does after the timeout', async (_what, consequence, call) => {
      const message = `The service did not finish within 0.02 s${consequence}`
      await expect(call(await silent())).rejects.toMatchObject({ message })
    })

    test('a wait ends by its signal, also after its timeout', async () => {
      const client = await silent()
      const reason = new Error('enough')
      const signal = AbortSignal.abort(reason)
      await expect(client.deliveries.waitFor({ signal })).rejects.toBe(reason)
      const later = new AbortController()
      const wait = client.deliveries.waitFor({ timeout: 0, signal: later.signal })
      later.abort(reason)
      await expect(wait).rejects.toBe(reason)
    })
  })

  test('rejects with Unreachable when nothing listens, and says where', async () => {
    const url = 'http://127.0.0.1:2'
    const error = await createClient({ url })
      .health()
      .catch((reason: unknown) => reason)
    expect(error).toBeInstanceOf(Unreachable)
    expect((error as Error).message).toBe(`No service answers at ${url} (connection refused).`)
  })

  test('says why a network is out of reach, without the local address that Node adds', async () => {
    const cause = new Error('connect ENETUNREACH 10.0.0.1:80 - Local (undefined:undefined)')
    const fetch = () => Promise.reject(new TypeError('fetch failed', { cause }))
    await expect(createClient({ url: 'http://10.0.0.1', fetch }).health()).rejects.toThrow(
      'No service answers at http://10.0.0.1 (connect ENETUNREACH 10.0.0.1:80).',
    )
  })

  test('rejects with Unreachable when the connection breaks before or within the answer', async () => {
    const before = await stranger((request) => request.socket.destroy())
    await expect(createClient({ url: before }).health()).rejects.toBeInstanceOf(Unreachable)
    const within = await stranger((_request, response) => {
      response.writeHead(200, { 'content-length': 100 }).write('{"status"', () => response.destroy())
    })
    await expect(createClient({ url: within }).health()).rejects.toBeInstanceOf(Unreachable)
  })

  test.each(['EPIPE', 'ECONNRESET'])('says that a request may have been handled after %s', async (code) => {
    const cause = Object.assign(new Error(`write ${code}`), { code })
    const fetch = () => Promise.reject(new TypeError('fetch failed', { cause }))
    const failed = createClient({ url: 'http://127.0.0.1:1', fetch }).health()
    await expect(failed).rejects.toMatchObject({ failedWhile: 'waiting', connectionCode: code })
  })

  test('says that no service answers when a connection ends within the TLS handshake', async () => {
    const server = createTcpServer((socket) => void socket.once('data', () => socket.destroy()))
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const url = `https://127.0.0.1:${(server.address() as AddressInfo).port}`
    await expect(createClient({ url }).locations.list()).rejects.toThrow('No service answers')
    await new Promise((resolve) => server.close(resolve))
  })

  test('waits for a move of the clock longer than Node waits for the headers of a response', async () => {
    const usual = getGlobalDispatcher()
    // Node's own limit is five minutes.
    setGlobalDispatcher(new Agent({ headersTimeout: 1 }))
    try {
      let arrived: (response: ServerResponse) => void = () => {}
      const toMove = new Promise<ServerResponse>((resolve) => (arrived = resolve))
      const url = await stranger((request, response) => {
        if (request.url === '/_sim/clock') arrived(response)
      })
      const client = createClient({ url })
      const move = client.clock.advance('36h')
      const response = await toMove
      await expect(client.health()).rejects.toThrow('did not answer within five minutes')
      response.setHeader('x-request-id', 'req_1').end('{"attempts":[]}')
      expect(await move).toEqual({ attempts: [] })
    } finally {
      setGlobalDispatcher(usual)
    }
  })

  test('rejects with the abort reason of the caller, and not with Unreachable', async () => {
    const stop = new AbortController()
    const url = await stranger(() => stop.abort(new Error('enough')))
    const given = createSend({ url })('GET', '/', undefined, stop.signal)
    await expect(given).rejects.toThrow(/^enough$/)
    const stream = createClient({ url }).stream(AbortSignal.abort())
    await expect(stream.next()).rejects.toMatchObject({ name: 'AbortError' })
  })

  test('rejects with the abort reason also within a response', async () => {
    const stop = new AbortController()
    const url = await stranger((_request, response) => {
      response.writeHead(200, { 'content-length': 100 }).write('{"status"')
    })
    const send = createSend({ url })
    const call = createCall(async (...args) => {
      const response = await send(...args)
      stop.abort(new Error('enough'))
      return response
    })
    await expect(call('GET', '/', undefined, { signal: stop.signal })).rejects.toThrow(/^enough$/)
  })

  test('rejects with the request id of a refused stream', async () => {
    const wrong = createClient({ url: simulator.url, apiKey: 'twk_wrong' })
    const refused = wrong.stream(new AbortController().signal).next()
    await expect(refused).rejects.toMatchObject({
      status: 401,
      requestId: expect.stringMatching(/^req_/) as string,
    })
  })

  test('streams messages until its signal aborts', async () => {
    const client = createClient(simulator)
    const stop = new AbortController()
    const messages: StreamMessage[] = []
    const push = () => void client.checks.push('streamed', JSON.stringify(checkBody()))
    for await (const message of client.stream(stop.signal, push)) {
      messages.push(message)
      if (message.type === 'request') stop.abort()
    }
    expect(messages.map(({ type }) => type)).toEqual(['event', 'request'])
    expect(messages[0]?.data).toMatchObject({ type: 'check.created', data: { external_id: 'streamed' } })
  })

  test('ends a stream that breaks off with Unreachable, and a stream that the service ends without an error', async () => {
    const broken = await stranger((_request, response) => {
      response
        .writeHead(200, { 'content-type': 'text/event-stream' })
        .write(': hello\n\n', () => response.destroy())
    })
    await expect(drain(broken)).rejects.toBeInstanceOf(Unreachable)
    const ended = await stranger((_request, response) => {
      response
        .writeHead(200, { 'content-type': 'text/event-stream' })
        .end('event: event\ndata: {"type":"ping"}\n\n')
    })
    expect(await drain(ended)).toEqual([{ type: 'event', data: { type: 'ping' } }])
  })
})

async function drain(url: string): Promise<StreamMessage[]> {
  const messages: StreamMessage[] = []
  for await (const message of createClient({ url }).stream(new AbortController().signal))
    messages.push(message)
  return messages
}
