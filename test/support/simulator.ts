import { mkdtemp, rm } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished } from 'vitest'
import { createAuthority, type Authority } from '../../src/certificates/authority.ts'
import { createClient, type StreamMessage } from '../../src/client.ts'
import type { Scope } from '../../src/model/api-key.ts'
import type { Push } from '../../src/model/check.ts'
import { startSimulator, type SimulatorOptions } from '../../src/simulator.ts'
import { startReceiver, type Answer as ReceiverAnswer, type Receiver } from './https-receiver.ts'

/** An answer of the service, as it came over the wire. */
export interface Answer {
  status: number
  headers: Headers
  text: string
  /** The body as JSON; `undefined` when there is none. */
  json: unknown
}

export interface ErrorBody {
  code: string
  message: string
  request_id: string
  [detail: string]: unknown
}

export interface CallOptions {
  /** `null` sends no key; without it, the key of the start is sent. */
  key?: string | null
  /** Sent as JSON. */
  json?: unknown
  /** Sent as it is, with `application/json` unless `headers` say otherwise. */
  body?: string | Uint8Array
  headers?: Record<string, string>
}

export type TestSimulator = Awaited<ReturnType<typeof openSimulator>>

/** URL of a database: every simulator that could be in memory gets a sandbox there. The soak sets it. */
const { TABWIRE_TEST_STORE: testStore } = process.env
let sandboxes = 0

function storeOfTests({ seed, dataDir, dataDirectory, store }: SimulatorOptions): SimulatorOptions {
  if (testStore === undefined || [seed, dataDir, dataDirectory, store].some((given) => given !== undefined))
    return {}
  return { store: testStore, sandbox: `tests_${process.pid}_${++sandboxes}` }
}

let authority: Promise<Authority> | undefined
let receiverTls: Promise<{ cert: string; key: string }> | undefined

/** One authority for all tests of a process: making keys takes a while. */
export function testAuthority(): Promise<Authority> {
  authority ??= createAuthority()
  return authority
}

/** A simulator on a free port that trusts the receivers of `openReceiver`; closed, and free of bugs, when the test ends. */
export async function openSimulator(options: SimulatorOptions = {}) {
  const { certificatePem } = await testAuthority()
  const bugs: unknown[] = []
  const onError = (bug: unknown) => bugs.push(bug)
  const simulator = await startSimulator({
    port: 0,
    ca: [certificatePem],
    onError,
    ...storeOfTests(options),
    ...options,
  })
  let closing: Promise<void> | undefined
  const close: typeof simulator.close = (options) => (closing ??= simulator.close(options))
  onTestFinished(async () => {
    await close()
    expect(bugs).toEqual([])
  })
  const client = createClient({ url: simulator.url, apiKey: simulator.apiKey })
  const call = (route: string, options: CallOptions = {}) =>
    callAt(simulator.url, route, { key: simulator.apiKey, ...options })
  return {
    ...simulator,
    close,
    client,
    port: Number(new URL(simulator.url).port),
    /** Calls a route such as `GET /v1/locations`. */
    call,
    push: (externalId: string, push: Partial<Push> = {}) =>
      call(`PUT /v1/checks/external/${encodeURIComponent(externalId)}`, { json: check(push) }),
    /** A key with these scopes alone, of the first location unless said otherwise. */
    key: async (scopes: Scope[], location_id?: string) =>
      (await client.keys.create({ scopes, ...(location_id !== undefined && { location_id }) })).api_key,
    /** Sends bytes as they are over a connection of their own, and reads until the service closes it. */
    raw: (...parts: (string | Uint8Array)[]) => exchange(Number(new URL(simulator.url).port), parts),
  }
}

export async function callAt(url: string, route: string, options: CallOptions): Promise<Answer> {
  const [method = 'GET', path = '/'] = route.split(' ')
  const headers = new Headers()
  if (typeof options.key === 'string') headers.set('authorization', `Bearer ${options.key}`)
  const body = options.json === undefined ? options.body : JSON.stringify(options.json)
  if (body !== undefined) headers.set('content-type', 'application/json')
  for (const [name, value] of Object.entries(options.headers ?? {})) headers.set(name, value)
  const response = await fetch(url + path, { method, headers, body: body ?? null })
  return answerOf(response.status, response.headers, await response.text())
}

function answerOf(status: number, headers: Headers, text: string): Answer {
  const isJson = headers.get('content-type')?.startsWith('application/json') === true && text !== ''
  return { status, headers, text, json: isJson ? JSON.parse(text) : undefined }
}

/** Requests that the HTTP parser of Node before 20.19.2 (major version 8) accepts, so that the service cannot refuse them. */
const lenient = ['a header name with a blank', 'bytes beyond ASCII in the path']

/** Returns true for a request that the HTTP parser of this Node accepts, although it breaks the protocol. */
export function isAcceptedByParser(what: string): boolean {
  return lenient.includes(what) && Number.parseInt(process.versions.llhttp ?? '', 10) < 9
}

/** Headers of a raw request to this port with this key, so that the service closes the connection after its answer. */
export function rawHeaders({ port, apiKey }: { port: number; apiKey: string }): string {
  return `Host: 127.0.0.1:${port}\r\nAuthorization: Bearer ${apiKey}\r\nConnection: close\r\n`
}

export function exchange(port: number, parts: readonly (string | Uint8Array)[]): Promise<Answer> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = []
    const socket = connect(port, '127.0.0.1')
    socket.on('data', (chunk) => chunks.push(chunk)).on('error', () => undefined)
    socket.on('close', () => resolve(parse(Buffer.concat(chunks).toString())))
    for (const part of parts) socket.write(part)
  })
}

function parse(text: string): Answer {
  const [head = '', ...rest] = text.split('\r\n\r\n')
  const [statusLine = '', ...lines] = head.split('\r\n')
  const headers = new Headers(
    lines.map((line): [string, string] => [line.split(':', 1)[0] ?? '', line.replace(/^[^:]*: ?/, '')]),
  )
  const body = rest.join('\r\n\r\n')
  const whole =
    headers.get('transfer-encoding') === 'chunked' ? body.replace(/^[0-9a-f]+\r\n|\r\n0\r\n\r\n$/g, '') : body
  return answerOf(Number(statusLine.split(' ')[1]), headers, whole)
}

/** The `error` object of an answer, which is sure to be one of the one shape, and to hold no more than it should. */
export function errorOf({ json, text, headers }: Answer): ErrorBody {
  const { error } = json as { error: ErrorBody }
  expect(Object.keys(json as object)).toEqual(['error'])
  expect(Object.keys(error).slice(0, 3)).toEqual(['code', 'message', 'request_id'])
  expect(error.request_id).toBe(headers.get('x-request-id'))
  expect(error.message).toMatch(/^[^\n]{10,}\.$/)
  expect(text).not.toMatch(/ at .*:\d+:\d+|node_modules|\/(home|work|tmp|usr)\/|\.ts\b|twk_|whsec_/)
  return error
}

/** Listens to the stream of a simulator: once this resolves, nothing that happens is missed. */
export async function openStream({ client }: Pick<TestSimulator, 'client'>) {
  const controller = new AbortController()
  onTestFinished(() => controller.abort())
  let isOpen = () => {}
  const opened = new Promise<void>((resolve) => (isOpen = resolve))
  const messages = client.stream(controller.signal, () => isOpen())
  let ahead: Promise<IteratorResult<StreamMessage>> | undefined = messages.next()
  await opened
  const next = async (): Promise<StreamMessage> => {
    const result = await (ahead ?? messages.next())
    ahead = undefined
    if (result.done === true) throw new Error('The stream has ended.')
    return result.value
  }
  return {
    next,
    /** The next `n` messages. */
    async take(n: number): Promise<StreamMessage[]> {
      const taken: StreamMessage[] = []
      while (taken.length < n) taken.push(await next())
      return taken
    },
  }
}

/** A complete and valid push: one burger, and whatever else is said. */
export function check(changes: Partial<Push> = {}): Push {
  return {
    table: { number: '12' },
    status: 'open',
    items: [item('burger')],
    totals: totals(1850),
    ...changes,
  }
}

export function item(
  external_id: string,
  changes: Partial<Push['items'][number]> = {},
): Push['items'][number] {
  return { external_id, name: `A ${external_id}`, quantity: 1, price_cents: 1850, note: null, ...changes }
}

export function totals(total_cents: number): Push['totals'] {
  return { subtotal_cents: total_cents, tax_cents: 0, total_cents }
}

/** An HTTPS receiver that the simulator's sender trusts, all with one certificate; closed when the test ends. */
export async function openReceiver(answer: ReceiverAnswer = 200): Promise<Receiver> {
  receiverTls ??= testAuthority().then((one) => one.issue(['127.0.0.1', 'localhost']))
  const receiver = await startReceiver({ tls: await receiverTls, answer })
  onTestFinished(() => receiver.close())
  return receiver
}

/** An `https:` URL at which nothing listens: port 1 is unused, and no test can get it. */
export const deadUrl = 'https://127.0.0.1:1/'

/** A directory of this test's own, removed when it ends. */
export async function temporaryDirectory(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'tabwire-test-'))
  onTestFinished(() => rm(directory, { recursive: true, force: true, maxRetries: 5 }))
  return directory
}
