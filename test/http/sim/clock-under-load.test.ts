import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { State } from '../../../src/model/simulator/state.ts'
import { stateText } from '../../../src/model/simulator/record-lines.ts'
import type { SimulatorOptions } from '../../../src/simulator.ts'
import type { Answer } from '../../support/https-receiver.ts'
import { sampled } from '../../soak/seeded.ts'
import {
  openReceiver,
  openSimulator,
  rawHeaders,
  temporaryDirectory,
  type TestSimulator,
} from '../../support/simulator.ts'

const HOUR = 3_600_000

/** Answers after so many milliseconds of real time. */
function after(ms: number, status = 200): Answer {
  return (response) => {
    const timer = setTimeout(() => response.writeHead(status).end(), ms)
    response.on('close', () => clearTimeout(timer))
  }
}

/** A service with a receiver of new checks, and traffic: a check every 50 ms until the test ends. */
async function openBusy(answer: Answer, options: SimulatorOptions = {}) {
  const simulator = await openSimulator(options)
  const register = async (given: Answer) => {
    const receiver = await openReceiver(given)
    await simulator.client.endpoints.create({ url: receiver.url, event_types: ['check.created'] })
    return receiver
  }
  const receiver = await register(answer)
  let pushed = 0
  const timer = setInterval(() => void simulator.push(`busy-${(pushed += 1)}`).catch(() => undefined), 50)
  onTestFinished(() => clearInterval(timer))
  return { ...simulator, receiver, register }
}

/** Real milliseconds that something takes. */
async function duration(work: () => Promise<unknown>): Promise<number> {
  const started = performance.now()
  await work()
  return performance.now() - started
}

/** All that a steady load used to keep waiting. */
const commands: Record<string, (simulator: TestSimulator) => Promise<unknown>> = {
  advance: ({ client }) => client.clock.advance('36h'),
  idle: ({ idle }) => idle(),
  freeze: ({ client }) => client.clock.freeze(true),
  unfreeze: ({ client }) => client.clock.freeze(false),
  load: async ({ client }) => client.state.put(await client.state.get()),
  reset: ({ client }) => client.state.reset(),
}

/** Milliseconds before the ten-second receiver ends an attempt: longer calls have waited for it. */
const LIMIT_MS = 8_000

describe('under steady traffic', () => {
  test.each(sampled([60, 400, 10_000], 2))(
    'to a receiver that takes %i ms, all commands finish',
    async (ms) => {
      const simulator = await openBusy(after(ms))
      await simulator.receiver.received(3)
      for (const [name, command] of Object.entries(commands)) {
        expect(await duration(() => command(simulator)), name).toBeLessThan(LIMIT_MS)
      }
    },
  )

  test('an advance of 36 hours makes all seven attempts of every failing delivery that existed', async () => {
    const simulator = await openBusy(after(10_000), { disableAfter: 0 })
    const failing = await simulator.register(500)
    await failing.received(3)
    const { id } = await newestOf(simulator, failing.url)
    await simulator.client.clock.advance('36h')
    const deliveries = (await all(simulator)).filter(
      (delivery) => delivery.id <= id && delivery.url === failing.url,
    )
    expect(deliveries.length).toBeGreaterThanOrEqual(3)
    for (const { status, attempts } of deliveries) {
      expect([status, attempts.length]).toEqual(['dead', 7])
      const [first = '', ...others] = attempts.map(({ started_at }) => started_at)
      expect(others.map((time) => Math.round((Date.parse(time) - Date.parse(first)) / HOUR))).toEqual([
        0, 0, 1, 3, 11, 35,
      ])
    }
  })
})

describe('a client that disconnects', () => {
  /** A service with a hanging delivery, so that a move waits. */
  async function openHanging(options: SimulatorOptions = {}) {
    const simulator = await openSimulator(options)
    const receiver = await openReceiver('hang')
    await simulator.client.endpoints.create({ url: receiver.url, event_types: ['check.created'] })
    await simulator.push('a')
    await receiver.received(1)
    return simulator
  }
  async function movingTo({ client }: TestSimulator): Promise<string | undefined> {
    return (await client.clock.show()).moving?.to
  }
  async function until(holds: () => Promise<boolean>): Promise<void> {
    while (!(await holds())) await new Promise((resolve) => setTimeout(resolve, 5))
  }

  test('during a move ends it at the current time', async () => {
    const simulator = await openHanging()
    const gone = new AbortController()
    const advance = simulator.client.clock.advance('36h', { signal: gone.signal })
    await until(async () => (await movingTo(simulator)) !== undefined)
    gone.abort()
    await expect(advance).rejects.toThrow('aborted')
    await until(async () => (await movingTo(simulator)) === undefined)
    expect((await simulator.client.clock.show()).offset_ms).toBeLessThan(HOUR)
  })

  test('by half of the connection gets no internal error', async () => {
    const simulator = await openHanging()
    const body = '{"advance":"36h"}'
    const socket = connect({ port: simulator.port, host: '127.0.0.1', allowHalfOpen: true })
    const headers = `${rawHeaders(simulator)}Content-Type: application/json\r\nContent-Length: ${body.length}\r\n`
    socket.end(`POST /_sim/clock HTTP/1.1\r\n${headers}\r\n${body}`)
    const answer = await text(socket)
    expect(answer).toMatch(/^HTTP\/1.1 400 /)
    expect(answer).toContain('The connection was closed before the response, so the request was aborted.')
  })

  test('before its turn cancels its advances', async () => {
    const simulator = await openHanging()
    const { client } = simulator
    const first = new AbortController()
    const moving = client.clock.advance('1h', { signal: first.signal })
    await until(async () => (await movingTo(simulator)) !== undefined)
    const gone = AbortSignal.timeout(20)
    const waiting = Array.from({ length: 10 }, () => client.clock.advance('36h', { signal: gone }))
    await Promise.allSettled(waiting)
    first.abort()
    await expect(moving).rejects.toThrow('aborted')
    await until(async () => (await movingTo(simulator)) === undefined)
    expect(await client.clock.show()).toMatchObject({ frozen: false, moving: null })
    expect((await client.clock.show()).offset_ms).toBeLessThan(HOUR)
    expect((await client.checks.list()).data).toHaveLength(1)
  })

  /** A state of ten days later with so many checks that a load of it takes a while. */
  async function largeState({ client }: TestSimulator): Promise<State> {
    const state = await client.state.get()
    const [sample] = state.checks
    if (sample === undefined) throw new Error('No check was pushed.')
    const checks = Array.from({ length: 10_000 }, (_, index) => ({
      ...sample,
      id: `chk_01J${String(index).padStart(23, '0')}`,
      external_id: `many-${index}`,
    }))
    const clock = { now: new Date(Date.now() + 240 * HOUR).toISOString(), frozen: false }
    return { ...state, clock, checks, events: [], deliveries: [] }
  }

  /** Sends a request over a connection of its own, and breaks it off once the service has answered another one. */
  async function sendAndLeave(simulator: TestSimulator, request: string, body = ''): Promise<void> {
    const socket = connect(simulator.port, '127.0.0.1')
    const head = `${request} HTTP/1.1\r\n${rawHeaders(simulator)}Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n`
    await new Promise<void>((resolve) => socket.write(head + body, () => resolve()))
    // Several, since a new connection is accepted first, and read from later.
    for (let answers = 0; answers < 3; answers += 1) await simulator.client.clock.show()
    socket.destroy()
  }

  test.each(sampled(['reset', 'load', 'advance'], 2))(
    'cancels its %s that waits for a load in progress',
    async (name) => {
      const simulator = await openSimulator({ dataDirectory: await temporaryDirectory() })
      const { client } = simulator
      await simulator.push('a')
      const before = stateText(await client.state.get())
      const loading = client.state.put(await largeState(simulator))
      // The clock is set first.
      await until(async () => (await client.clock.show()).offset_ms > 239 * HOUR)
      await sendAndLeave(
        simulator,
        { reset: 'POST /_sim/reset', load: 'PUT /_sim/state', advance: 'POST /_sim/clock' }[name] ?? '',
        { reset: '', load: [...before].join(''), advance: '{"advance":"36h"}' }[name],
      )
      await loading
      // Whatever waited in line is over when this has had its turn.
      await client.clock.advance('1s')
      expect((await client.checks.list()).data[0]?.external_id).toBe('many-9999')
      expect(Math.round((await client.clock.show()).offset_ms / HOUR)).toBe(240)
    },
  )

  test('while it sends a state, or right after that, changes nothing', async () => {
    const simulator = await openSimulator()
    const { client } = simulator
    await simulator.push('a')
    const text = [...stateText(await largeState(simulator))].join('')
    const socket = connect(simulator.port, '127.0.0.1')
    const head = `PUT /_sim/state HTTP/1.1\r\n${rawHeaders(simulator)}Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(text)}\r\n\r\n`
    await new Promise<void>((resolve) => socket.write(head + text.slice(0, text.length / 2), () => resolve()))
    socket.destroy()
    await sendAndLeave(simulator, 'PUT /_sim/state', text)
    await client.clock.advance('1s')
    expect((await client.checks.list()).data.map(({ external_id }) => external_id)).toEqual(['a'])
  })

  test.each(['on a port', 'in this process'])(
    'gets the error timeout after its own timeout, %s',
    async (way) => {
      const simulator = await openHanging()
      const { client, idle } = simulator
      const waits = way === 'on a port' ? client.clock.advance('36h', { timeout: 50 }) : idle({ timeout: 50 })
      await expect(waits).rejects.toMatchObject({ name: 'TimedOut', code: 'timeout' })
    },
  )
})

test('a move reports the deliveries that it waits for, and a reset ends it', async () => {
  const simulator = await openSimulator()
  const receiver = await openReceiver('hang')
  await simulator.client.endpoints.create({ url: receiver.url, event_types: ['check.created'] })
  await simulator.push('a')
  const advance = simulator.client.clock.advance('36h')
  const refused = expect(advance).rejects.toMatchObject({ status: 409, code: 'state_replaced' })
  await receiver.received(1)
  const [delivery] = (await simulator.client.deliveries.list()).data
  let moving
  do ({ moving } = await simulator.client.clock.show())
  while (moving === null || moving.waiting_for.length === 0)
  expect(moving.waiting_for).toEqual([delivery?.id])
  await simulator.client.clock.freeze(true)
  expect(await simulator.client.state.reset()).toMatchObject({ clock: { moving: null }, pending: 0 })
  await refused
})

/** All deliveries with the URL that they go to. */
async function all({ client }: TestSimulator) {
  const urls = new Map((await client.endpoints.list()).data.map(({ id, url }) => [id, url]))
  const found = []
  let cursor: string | undefined
  do {
    const { data, next_cursor } = await client.deliveries.list({ limit: 100, cursor })
    found.push(...data.map((delivery) => ({ ...delivery, url: urls.get(delivery.endpoint_id) })))
    cursor = next_cursor ?? undefined
  } while (cursor !== undefined)
  return found
}

async function newestOf(simulator: TestSimulator, url: string) {
  const newest = (await all(simulator)).find((delivery) => delivery.url === url)
  if (newest === undefined) throw new Error(`There is no delivery to ${url}.`)
  return newest
}
