import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import {
  createClient,
  Unreachable,
  type AttemptMessage,
  type Client,
  type RequestView,
  type StreamMessage,
} from '../../src/client.ts'
import type { Delivery } from '../../src/model/delivery.ts'
import type { Envelope } from '../../src/model/event.ts'
import { isSoak } from '../soak/seeded.ts'
import { checkBody, spawnTabwire, startService } from '../support/cli.ts'
import { startReceiver } from '../support/https-receiver.ts'
import { postgresPrograms, openTestDatabase, type Database } from '../support/postgres.ts'
import { startRoundRobin } from '../support/round-robin.ts'

const INSTANCES = 3
/** So many that each instance delivers to some. */
const ENDPOINTS = 4
const ROUNDS = isSoak ? 5 : 1
const WORKERS = isSoak ? 4 : 2
/** Milliseconds between two checks of a worker. */
const PAUSE_MS = isSoak ? 30 : 80

describe.skipIf(postgresPrograms === undefined)('instances that share a sandbox', () => {
  let database: Database
  beforeAll(async () => {
    database = await openTestDatabase()
  })
  afterAll(() => database.stop())

  it(
    'are restarted one after the other, and neither a request fails nor a stream has a gap or a message twice',
    async () => {
      const start = () =>
        startService(['--store', database.url, '--sandbox', 'rolling', '--allow-http-loopback'])
      const first = await start()
      const instances = [first, ...(await Promise.all([start(), start()]))]
      const proxy = await startRoundRobin(
        instances.map(({ url }) => url),
        { readyEveryMs: 100 },
      )
      onTestFinished(() => proxy.close())
      const client = createClient({ url: proxy.url, apiKey: first.key })

      const receiver = await startReceiver({
        // Attempts are in flight most of the time.
        answer: (response, _received, index) =>
          void setTimeout(() => response.writeHead(204).end(), (index * 7) % 60),
      })
      onTestFinished(() => receiver.close())
      for (let endpoint = 0; endpoint < ENDPOINTS; endpoint += 1)
        await client.endpoints.create({ url: `${receiver.url}${endpoint}` })
      await settled(client)

      const stream = followStream(client)
      await stream.opened
      const tail = await spawnTabwire([
        ...['tail', '--json', '--requests', '--no-keys', '--url', proxy.url],
        ...['--api-key', first.key],
      ])
      let output = ''
      tail.child.stdout?.on('data', (text: string) => (output += text))
      await tail.until('stderr', /Listening/)
      const before = new Set(await recordsOf(client))

      const load = startLoad(proxy.url, first.key)
      for (let nth = 0; nth < ROUNDS * INSTANCES; nth += 1) {
        await load.more(10)
        const one = instances.shift()
        if (one === undefined) throw new Error('There is no instance.')
        // Every second one stops while requests are sent to it, until the proxy notices that it is not ready.
        const isFound = isSoak && nth % 2 === 1
        if (!isFound) proxy.leave(one.url)
        const { code, stderr } = await one.stop()
        expect([code, stderr]).toEqual([0, expect.not.stringMatching(/error|bug/i)])
        if (isFound) proxy.leave(one.url)
        const another = await start()
        expect((await another.call('GET', '/_sim/ready')).status).toBe(200)
        instances.push(another)
        proxy.join(another.url)
      }
      await load.more(10)
      const { failed, requests, pushed } = await load.end()
      expect(failed).toEqual([])
      await settled(client)

      const records = (await recordsOf(client)).filter((name) => !before.has(name))
      const expected = [...records, ...requests.map((id) => `request ${id}`)].toSorted()
      await stream.reads(expected)
      expect(stream.messages().toSorted()).toEqual(expected)
      const shown = expected.filter((name) => !name.startsWith('event'))
      expect((await linesOf(() => output, shown)).toSorted()).toEqual(shown)
      stream.close()
      tail.child.kill('SIGINT')
      await tail.ended

      // Each request to a receiver is a recorded attempt.
      const attempts = (await deliveriesOf(client)).flatMap(({ event_id, attempts }) =>
        attempts.map(({ outcome }) => `${event_id} ${outcome}`),
      )
      const received = receiver.requests.map(
        ({ body }) => `${(JSON.parse(body.toString()) as Envelope).id} succeeded`,
      )
      expect(received.toSorted()).toEqual(attempts.toSorted())
      expect(records.filter((name) => name.startsWith('attempt')).length).toBe(ENDPOINTS * pushed)
      expect(stream.connections()).toBeGreaterThan(ROUNDS)
      process.stderr.write(
        `rolling: ${requests.length} requests, ${records.length} events and attempts, ${stream.connections()} connections of the stream\n`,
      )
    },
    120_000 * ROUNDS,
  )
})

/** Pushes and reads until `end`, without repeating a request. */
function startLoad(url: string, key: string) {
  const failed: string[] = []
  const requests: string[] = []
  let pushed = 0
  let isOver = false
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
  const call = async (method: string, path: string, body?: object) => {
    const text = body === undefined ? null : JSON.stringify(body)
    const answer = await fetch(url + path, { method, headers, body: text }).catch(String)
    if (typeof answer === 'string') return void failed.push(`${method} ${path}: ${answer}`)
    const answered = await answer.text().catch(String)
    if (!answer.ok) failed.push(`${method} ${path}: ${answer.status} ${answered}`)
    if (path.startsWith('/v1/')) requests.push(answer.headers.get('x-request-id') ?? '')
  }
  const work = async (worker: number) => {
    for (let number = 0; !isOver; number += 1) {
      const path = `/v1/checks/external/w${worker}-${number}`
      await call('PUT', path, checkBody())
      pushed += 1
      // Each instance reads the records of the others.
      await Promise.all([call('GET', path), call('GET', '/_sim/events?limit=1')])
      await pause(PAUSE_MS)
    }
  }
  const workers = Array.from({ length: WORKERS }, (_, worker) => work(worker))
  return {
    /** Resolves after so many more checks. */
    async more(count: number): Promise<void> {
      const wanted = pushed + count
      while (pushed < wanted) await pause(PAUSE_MS)
    },
    async end() {
      isOver = true
      await Promise.all(workers)
      return { failed, requests, pushed }
    },
  }
}

/** Reads the live stream. When it ends, reads on after the last message, at any instance. */
function followStream(client: Client) {
  const told: string[] = []
  const ending = new AbortController()
  onTestFinished(() => ending.abort())
  let connections = 0
  let lastEventId: string | undefined
  let isOpen = () => {}
  const opened = new Promise<void>((resolve) => (isOpen = resolve))
  const onOpen = () => {
    connections += 1
    isOpen()
  }
  const onId = (id: string) => (lastEventId = id)
  const follow = async () => {
    while (!ending.signal.aborted) {
      const messages = client.stream({ signal: ending.signal, lastEventId, onOpen, onId })
      try {
        for await (const message of messages) if (message.type !== 'live') told.push(nameOf(message))
      } catch (error) {
        // A broken connection is read on as one that has ended is.
        if (!(error instanceof Unreachable) && !ending.signal.aborted) throw error
      }
    }
  }
  const followed = follow()
  // Rethrown by `reads`.
  followed.catch(() => undefined)
  return {
    opened: Promise.race([opened, followed]),
    messages: () => told,
    connections: () => connections,
    /** Resolves when all of these have come. */
    async reads(names: readonly string[]): Promise<void> {
      const come = expect.poll(() => missing(names, told), { timeout: 20_000 }).toEqual([])
      await Promise.race([come, followed])
    },
    close: () => ending.abort(),
  }
}

function nameOf({ type, data }: StreamMessage): string {
  if (type === 'attempt') return `attempt ${data.id} ${data.attempt.number}`
  return 'id' in data ? `${type} ${data.id}` : type
}

/** The lines of `tail`, when all of these have come. */
async function linesOf(output: () => string, names: readonly string[]): Promise<string[]> {
  const lines = () =>
    output()
      .split('\n')
      .slice(0, -1)
      .map((line) => {
        const data = JSON.parse(line) as AttemptMessage | RequestView
        return 'attempt' in data ? nameOf({ type: 'attempt', data }) : nameOf({ type: 'request', data })
      })
  await expect.poll(() => missing(names, lines()), { timeout: 20_000 }).toEqual([])
  return lines()
}

function missing(names: readonly string[], among: readonly string[]): string[] {
  const there = new Set(among)
  return names.filter((name) => !there.has(name))
}

/**
 * Waits until no delivery is pending. An instance that cannot leave its slots while it stops, on a busy machine, has them until
 * its lease of 30 s ends.
 */
async function settled(client: Client): Promise<void> {
  const pending = async () => (await client.deliveries.list({ status: 'pending', limit: 1 })).data
  await expect.poll(pending, { timeout: 45_000 }).toEqual([])
}

/** Events and attempts, by the lists of the API. */
async function recordsOf(client: Client): Promise<string[]> {
  const found: string[] = []
  for await (const { id } of client.events.all()) found.push(`event ${id}`)
  for (const { id, attempts } of await deliveriesOf(client))
    for (const { number } of attempts) found.push(`attempt ${id} ${number}`)
  return found
}

async function deliveriesOf(client: Client): Promise<Delivery[]> {
  const found: Delivery[] = []
  for await (const delivery of client.deliveries.all()) found.push(delivery)
  return found
}
