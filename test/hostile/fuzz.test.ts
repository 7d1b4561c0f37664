import { Agent, METHODS, request } from 'node:http'
import { connect } from 'node:net'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { simRoutes, type SimParts } from '../../src/http/sim/routes.ts'
import { v1Routes, type V1Parts } from '../../src/http/v1/routes.ts'
import { isSoak } from '../soak/seeded.ts'
import { check, deadUrl, rawHeaders } from '../support/simulator.ts'
import { openTarget, valid, type Target } from './standing.ts'

/** `TABWIRE_FUZZ_RUNS=50000 npx vitest run test/hostile/fuzz.test.ts` for more of it; the seed repeats a run. */
const runs = Number(process.env.TABWIRE_FUZZ_RUNS ?? (isSoak ? 1500 : 500))
const damagedRuns = Math.ceil(runs / 3)
const seed = Number(process.env.TABWIRE_FUZZ_SEED ?? 20_261_121)

/** Milliseconds after which a request on this machine counts as hanging. */
const HANGS_MS = 15_000

/** Excluded: the stream never ends, and the reset removes the test's data. */
const left = ['/_sim/stream', '/_sim/reset']

const routes = [
  ...v1Routes({} as V1Parts).map(({ method, path }) => ({ method, path: `/v1${path}` })),
  ...simRoutes({} as SimParts).map(({ method, path }) => ({ method, path: `/_sim${path}` })),
].filter(({ path }) => !left.includes(path))

/** The one route that does the most comes up the most. */
const pushes = Array.from({ length: 8 }, () => ({ method: 'PUT', path: '/v1/checks/external/:id' }))

const rarely = <T>(usual: fc.Arbitrary<T>, odd: fc.Arbitrary<T>) =>
  fc.oneof({ weight: 4, arbitrary: usual }, { weight: 1, arbitrary: odd })

const ids = fc.oneof(
  fc.constantFrom(
    'a',
    'b',
    '%2F',
    '%00',
    '%',
    '%ZZ',
    '..',
    '%2e%2e',
    '%F0%9F%8D%AE',
    '%ED%A0%80',
    '{}',
    '__proto__',
  ),
  fc.string({ unit: 'grapheme', maxLength: 300 }).map((text) => encodeURIComponent(text)),
  fc.stringMatching(/^(chk|we|evt|dlv|key|req)_[0-9A-Z]{26}$/),
  fc.stringMatching(/^[!-"$-~]{0,40}$/),
)
const methods = fc.constantFrom(...METHODS.filter((method) => method !== 'CONNECT'))
const targets = rarely(
  fc
    .tuple(fc.constantFrom(...routes, ...pushes), ids)
    .map(([{ method, path }, id]) => [method, path.replace(/:\w+/, () => id)]),
  fc.tuple(
    methods,
    fc.oneof(
      fc.constantFrom(...routes.map(({ path }) => path)),
      ids.map((id) => `/${id}`),
    ),
  ),
)

const word = fc.constantFrom('limit', 'cursor', 'status', 'table', 'type', 'event_id', '__proto__', 'x')
const value = fc.oneof(fc.constantFrom('', '1', '0', '1e2', 'open', '%', '%00'), fc.webQueryParameters())
const queries = rarely(
  fc.constant(''),
  fc
    .array(fc.tuple(word, value), { maxLength: 5 })
    .map((pairs) => `?${pairs.map((pair) => pair.join('=')).join('&')}`),
)

/** A valid push with one of its values replaced by another JSON value, or taken out. */
const nearlyValid = fc
  .tuple(fc.nat(30), fc.oneof(fc.jsonValue(), fc.constantFrom(1e308, -0, 2 ** 53, '\ud800', '\u0000')))
  .map(([place, other]) => {
    let count = 0
    return JSON.stringify(check(), (_key, kept: unknown) => (count++ === place ? other : kept)) ?? ''
  })
const bodies = fc.oneof(
  fc.constantFrom(
    valid,
    JSON.stringify({ url: deadUrl, event_types: ['check.created'] }),
    JSON.stringify({ scopes: ['read'] }),
    '',
    'null',
    '[]',
    '{"__proto__":{"x":1}}',
    '['.repeat(5000),
  ),
  nearlyValid,
  fc.json(),
  fc
    .tuple(fc.nat(valid.length), fc.string())
    .map(([at, text]) => valid.slice(0, at) + text + valid.slice(at + 1)),
  fc.uint8Array({ maxLength: 500 }),
)

const headers = fc
  .tuple(
    rarely(fc.constant('application/json'), fc.stringMatching(/^[ -~]{0,40}$/)),
    fc.dictionary(
      fc.constantFrom(
        'accept',
        'content-encoding',
        'expect',
        'if-match',
        'origin',
        'range',
        'x-request-id',
        'x',
      ),
      fc.oneof(
        fc.constantFrom('gzip', '100-continue', 'null', '*'),
        fc.stringMatching(/^[ -~\u0080-\u00ff]{0,80}$/),
      ),
      { maxKeys: 2 },
    ),
  )
  .map(([type, more]): Record<string, string> => ({ 'content-type': type, ...more }))

interface Fuzzed {
  method: string
  path: string
  headers: Record<string, string>
  /** `null` sends no key. */
  key: string | null
  body: string | Uint8Array
}

function ask({ port }: Target, agent: Agent, { method, path, key, headers, body }: Fuzzed) {
  return new Promise<{ status: number; id: string; text: string }>((resolve, reject) => {
    const all: Record<string, string | number> = { ...headers, 'content-length': Buffer.byteLength(body) }
    if (key !== null) all.authorization = `Bearer ${key}`
    const signal = AbortSignal.timeout(HANGS_MS)
    const sent = request({ port, host: '127.0.0.1', agent, method, path, headers: all, signal }, (answer) => {
      let text = ''
      answer.setEncoding('utf8').on('data', (part: string) => (text += part))
      answer.on('error', reject)
      answer.on('end', () =>
        resolve({ status: answer.statusCode ?? 0, id: String(answer.headers['x-request-id']), text }),
      )
    })
    sent.on('error', reject)
    sent.end(body)
  })
}

test(
  `${runs} requests, seed ${seed}: each is answered, none with 5xx, each with its own id`,
  async () => {
    const target = await openTarget({ disableAfter: 1 })
    const agent = new Agent({ keepAlive: true, maxSockets: 4 })
    const seen = new Set<string>()
    const statuses: Record<number, number> = {}
    const keys = rarely(fc.constant<string | null>(target.apiKey), fc.constantFrom(null, 'x'))
    const anyRequest = fc
      .tuple(targets, queries, headers, keys, bodies)
      .map(([[method = '', path = ''], query, headers, key, body]) => ({
        method,
        path: path + query,
        headers,
        key,
        body,
      }))
    const isAnswered = fc.asyncProperty(anyRequest, async (fuzzed) => {
      const { status, id, text } = await ask(target, agent, fuzzed)
      statuses[status] = (statuses[status] ?? 0) + 1
      expect(status).toBeGreaterThanOrEqual(200)
      expect(status).toBeLessThan(500)
      expect(id).toMatch(/^req_[0-9A-HJKMNP-TV-Z]{26}$/)
      expect(text).not.toMatch(/node_modules|\n {4}at /)
      expect(seen.has(id)).toBe(false)
      seen.add(id)
    })
    await fc.assert(isAnswered, { numRuns: runs, seed })
    expect(seen.size).toBeGreaterThanOrEqual(runs)
    await target.stands()
    agent.destroy()
    // With `--execArgv=--expose-gc` this excludes garbage.
    globalThis.gc?.()
    const megabytes = Math.round(process.memoryUsage().heapUsed / 2 ** 20)
    process.stderr.write(`fuzz: ${JSON.stringify(statuses)}, heap ${megabytes} MB\n`)
  },
  20_000 + runs * 20,
)

/** Whole requests as they travel, to be damaged. */
function onTheWire(target: Target): Buffer[] {
  const push = `Content-Type: application/json\r\n`
  const request = (route: string, more = '', body = '') =>
    Buffer.from(`${route} HTTP/1.1\r\n${rawHeaders(target)}${more}\r\n${body}`)
  const route = 'PUT /v1/checks/external/fuzzed'
  const chunks = `10\r\n${valid.slice(0, 16)}\r\n${(valid.length - 16).toString(16)}\r\n${valid.slice(16)}\r\n0\r\n\r\n`
  return [
    request('GET /v1/locations'),
    request('GET /v1/checks?limit=2&status=open', 'Accept: */*\r\nCookie: a=b\r\n'),
    request('HEAD /v1/checks/external/earlier'),
    request('OPTIONS *'),
    request('DELETE /_sim/keys/key_1'),
    request(route, `${push}Content-Length: ${valid.length}\r\n`, valid),
    request(route, `${push}Transfer-Encoding: chunked\r\n`, chunks),
    request(route, `${push}Content-Length: ${valid.length}\r\nExpect: 100-continue\r\n`, valid),
    request('GET /_sim/health', 'Upgrade: websocket\r\nConnection: Upgrade\r\n'),
  ]
}

const hostileBytes = fc.oneof(
  fc
    .constantFrom('\r\n', '\n', '\0', ':', ' ', '\t', '%', '..', '/', '\r\n\r\n', 'chunked', '-1', '\u00ff')
    .map((t) => Buffer.from(t, 'latin1')),
  fc.uint8Array({ maxLength: 4 }).map((bytes) => Buffer.from(bytes)),
)
/** Up to four places, from 0 to 1 of the whole, at which some bytes are taken out and others put in. */
const damages = fc.array(fc.tuple(fc.double({ min: 0, max: 1, noNaN: true }), fc.nat(6), hostileBytes), {
  minLength: 1,
  maxLength: 4,
})

function damaged(
  bytes: Buffer,
  places: readonly (readonly [at: number, taken: number, put: Buffer])[],
): Buffer {
  return places.reduce((whole, [at, taken, put]) => {
    const from = Math.floor(at * whole.length)
    return Buffer.concat([whole.subarray(0, from), put, whole.subarray(from + taken)])
  }, bytes)
}

function exchange(port: number, bytes: Buffer): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = ''
    const socket = connect(port, '127.0.0.1')
    const hangs = setTimeout(
      () => reject(new Error(`No end of: ${JSON.stringify(bytes.toString('latin1'))}`)),
      HANGS_MS,
    )
    socket.on('error', () => undefined)
    // A damaged request may have lost its `Connection: close`.
    socket.once('data', () => socket.end())
    socket.on('data', (data) => (text += data.toString('latin1')))
    socket.on('close', () => {
      clearTimeout(hangs)
      resolve(text)
    })
    socket.write(bytes)
  })
}

test(
  `${damagedRuns} damaged requests, seed ${seed}: each ends, none with 5xx, and all responses have an id`,
  async () => {
    const target = await openTarget({
      connectionLimits: { firstRequestMs: 500, headersMs: 500, requestMs: 500 },
    })
    const whole = onTheWire(target)
    const samples = fc.sample(fc.tuple(fc.constantFrom(...whole), damages), { numRuns: damagedRuns, seed })
    let answered = 0
    while (samples.length > 0) {
      const attack = samples.splice(0, 125).map(async ([bytes, places]) => {
        const sent = damaged(bytes, places)
        const text = await exchange(target.port, sent)
        const final = [...text.matchAll(/HTTP\/1\.1 ([2-5]\d\d) /g)].map(([, status]) => Number(status))
        const given = {
          sent: sent.toString('latin1'),
          text,
          ids: text.match(/^x-request-id: req_/gim)?.length ?? 0,
        }
        expect(given).toEqual({ ...given, ids: final.length })
        expect(final.filter((status) => status >= 500)).toEqual([])
        answered += final.length
      })
      await Promise.all(attack)
    }
    expect(answered).toBeGreaterThan(damagedRuns * 0.8)
    await target.stands()
  },
  20_000 + damagedRuns * 20,
)
