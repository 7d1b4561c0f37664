import { readFileSync } from 'node:fs'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { isOutage, openDatabase } from '../../../src/store/postgres/database.ts'
import { isSoak, sampled } from '../../soak/seeded.ts'
import { postgresPrograms, startCluster, type Cluster } from '../../support/postgres.ts'
import { openSimulator, type TestSimulator } from '../../support/simulator.ts'

/** Pushes of the load that must fail before the database comes back. */
const FAILED = isSoak ? 60_000 / 1_500 : 6

interface Answered {
  id: string
  status: number
  retryAfter: string | null
}

/** Pushes checks, a few at a time, until it is stopped. Returns the answers in order. */
function load(simulator: TestSimulator) {
  const answers: Answered[] = []
  let isOver = false
  let told = () => {}
  const worker = async (name: string) => {
    for (let nth = 0; !isOver; nth += 1) {
      const id = `${name}-${nth}`
      const { status, headers } = await simulator.push(id)
      answers.push({ id, status, retryAfter: headers.get('retry-after') })
      told()
    }
  }
  const workers = Promise.all(['a', 'b', 'c'].map(worker))
  return {
    answers,
    /** Resolves when so many answers have this status. */
    async seen(status: number, count: number): Promise<void> {
      while (answers.filter((answer) => answer.status === status).length < count)
        await new Promise<void>((resolve) => (told = resolve))
    },
    async stop(): Promise<void> {
      isOver = true
      await workers
    },
  }
}

/** Resolves when the service is ready. */
async function becomesReady(simulator: TestSimulator): Promise<void> {
  for (;;) {
    const { status } = await simulator.call('GET /_sim/ready', { key: null })
    if (status === 200) return
    expect(status).toBe(503)
  }
}

function expectRefused(answers: readonly Answered[]): void {
  for (const { status, retryAfter } of answers.filter((answer) => answer.status !== 201))
    expect({ status, retryAfter }).toEqual({ status: 503, retryAfter: '1' })
}

describe.skipIf(postgresPrograms === undefined)('a database that is away', () => {
  let cluster: Cluster
  beforeAll(async () => {
    cluster = await startCluster()
  })
  afterAll(() => cluster.stop())

  test('because it was killed: requests get 503, no acknowledged write is lost, and the service recovers', async () => {
    const notices: string[] = []
    const simulator = await openSimulator({
      store: cluster.url,
      sandbox: 'killed',
      onNotice: (notice) => notices.push(notice),
    })
    // Attempts that cannot be recorded are not errors of the service.
    await simulator.client.endpoints.create({ url: 'https://127.0.0.1:9/' })
    const { answers, seen, stop } = load(simulator)
    await seen(201, 6)
    // From then on this instance knows the key, so that metrics are read while the database is away.
    expect((await simulator.call('GET /_sim/metrics')).status).toBe(200)
    const memory = process.memoryUsage().rss
    await cluster.kill()
    await seen(503, FAILED)

    const probe = await simulator.call('GET /_sim/ready', { key: null })
    expect([probe.status, probe.headers.get('retry-after')]).toEqual([503, '1'])
    expect(probe.json).toMatchObject({ error: { code: 'storage_unavailable' } })
    expect(probe.text).not.toContain(cluster.directory)
    expect((await simulator.call('GET /_sim/health', { key: null })).status).toBe(200)
    expect((await simulator.call('GET /_sim/metrics')).text).toMatch(
      /^tabwire_database_connections\{state="idle"\} 0$/m,
    )
    for (const page of ['GET /', 'GET /docs', 'GET /openapi.json'])
      expect([page, (await simulator.call(page, { key: null })).status]).toEqual([page, 200])
    expect(await statusesOfAll(simulator)).toEqual([])
    if (isSoak) expect(process.memoryUsage().rss - memory).toBeLessThan(150e6)

    await cluster.restart()
    await becomesReady(simulator)
    await seen(201, answers.filter(({ status }) => status === 201).length + 3)
    await stop()
    expectRefused(answers)
    for (const { id } of answers.filter(({ status }) => status === 201))
      expect((await simulator.call(`GET /v1/checks/external/${id}`)).status).toBe(200)
    expect(notices).toEqual([
      expect.stringMatching(
        /^The database (does not answer|refuses statements)( \(\w+\))?\. .* Requests get 503 until then\.$/,
      ),
      'The database answers again.',
    ])
  })

  test.each(sampled(['swallow', 'reset'] as const, 2))(
    'because the network would %s all bytes: requests get 503, and the service recovers',
    async (mode) => {
      const network = await networkTo(join(cluster.directory, '.s.PGSQL.5432'))
      const simulator = await openSimulator({ store: network.url, sandbox: mode })
      const { answers, seen, stop } = load(simulator)
      await seen(201, 3)
      network.set(mode)
      await seen(503, FAILED)
      const probe = await simulator.call('GET /_sim/ready', { key: null })
      expect([probe.status, probe.headers.get('retry-after')]).toEqual([503, '1'])
      network.set('pass')
      await becomesReady(simulator)
      await stop()
      expectRefused(answers)
      network.set(mode)
      await simulator.close()
    },
  )
})

test('a connection that the server ends in the packet that opens it fails its statement, not the process', async () => {
  const opened = [message('R', '\0\0\0\0'), message('Z', 'I')]
  const ended = message('E', 'SFATAL\0C57P01\0Mterminating connection due to unexpected postmaster exit\0\0')
  const server = createServer((socket) => {
    socket.on('error', () => {}).once('data', () => socket.end(Buffer.concat([...opened, ended])))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  const { port } = server.address() as AddressInfo
  const uncaught: unknown[] = []
  const note = (error: unknown) => uncaught.push(error)
  process.on('uncaughtExceptionMonitor', note)
  onTestFinished(() => void process.off('uncaughtExceptionMonitor', note))

  const database = await openDatabase({ url: `postgres://tabwire@127.0.0.1:${port}/x`, sandbox: 'ended' })
  const error: unknown = await database.query('SELECT 1').catch((reason: unknown) => reason)
  expect(error).toBeInstanceOf(Error)
  expect(isOutage(error)).toBe(true)
  await database.close()
  expect(uncaught).toEqual([])
})

test('a connection that fails to log in is closed, so that repeated attempts do not use up the server', async () => {
  let isClosed = () => {}
  const closed = new Promise<void>((resolve) => (isClosed = resolve))
  const server = createServer((socket) => {
    socket.on('error', () => {}).once('close', () => isClosed())
    const answers = [
      message('R', '\0\0\0\u000aSCRAM-SHA-256\0\0'),
      message('R', '\0\0\0\u000br=nonce,s=c2FsdA==,i=1'),
    ]
    socket.on('data', () => socket.write(answers.shift() ?? ''))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  const { port } = server.address() as AddressInfo
  const database = await openDatabase({ url: `postgres://tabwire@127.0.0.1:${port}/x`, sandbox: 'login' })
  await expect(database.query('SELECT 1')).rejects.toThrow(/password/)
  await closed
  await database.close()
})

/** Returns a message of PostgreSQL's protocol: its type, its length in 4 bytes and its text. */
function message(type: string, text: string): Buffer {
  const head = Buffer.from(`${type}\0\0\0\0`)
  head.writeInt32BE(text.length + 4, 1)
  return Buffer.concat([head, Buffer.from(text)])
}

interface OpenApi {
  paths: Record<string, Record<string, { operationId?: string }>>
}

/** Calls every route of the API with a key. Returns those that answered with a server error other than 503. */
async function statusesOfAll(simulator: TestSimulator): Promise<string[]> {
  const document = JSON.parse(
    readFileSync(new URL('../../../fixtures/openapi.json', import.meta.url), 'utf8'),
  ) as OpenApi
  const calls = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.keys(methods)
      .filter((method) => ['get', 'put', 'post', 'delete'].includes(method))
      .map((method) => ({ method: method.toUpperCase(), path: path.replace(/\{\w+\}/g, 'x') })),
  )
  expect(calls.length).toBeGreaterThan(40)
  const wrong = await Promise.all(
    calls.map(async ({ method, path }) => {
      const abort = new AbortController()
      const hasBody = method === 'PUT' || method === 'POST'
      const response = await fetch(simulator.url + path, {
        method,
        signal: abort.signal,
        headers: {
          authorization: `Bearer ${simulator.apiKey}`,
          ...(hasBody && { 'content-type': 'application/json' }),
        },
        ...(hasBody && { body: '{}' }),
      })
      abort.abort()
      return response.status >= 500 && response.status !== 503 ? `${response.status} ${method} ${path}` : ''
    }),
  )
  return wrong.filter((line) => line !== '')
}

/** A network to a server's socket that can be cut: bytes are swallowed, or connections are reset. */
async function networkTo(path: string) {
  let mode: 'pass' | 'swallow' | 'reset' = 'pass'
  const sockets = new Set<Socket>()
  const server = createServer((inner) => {
    if (mode === 'reset') return void inner.resetAndDestroy()
    const outer = connect(path)
    for (const [from, to] of [
      [inner, outer],
      [outer, inner],
    ] as const) {
      sockets.add(from)
      from.on('data', (bytes) => mode === 'pass' && to.write(bytes))
      from.on('error', () => {})
      from.on('close', () => {
        sockets.delete(from)
        if (mode !== 'swallow') to.destroy()
      })
    }
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(async () => {
    for (const socket of sockets) socket.destroy()
    await new Promise((resolve) => server.close(resolve))
  })
  const { port } = server.address() as AddressInfo
  return {
    url: `postgres://tabwire@127.0.0.1:${port}/postgres`,
    set(next: typeof mode) {
      mode = next
      // Connections that lost bytes cannot go on.
      if (mode !== 'swallow') for (const socket of sockets) socket.destroy()
    },
  }
}
