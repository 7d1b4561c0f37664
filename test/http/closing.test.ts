import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { text as textOf } from 'node:stream/consumers'
import { connect as connectTls } from 'node:tls'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { fakeOwnTimers } from '../support/fake-timers.ts'
import {
  check,
  openReceiver,
  openSimulator,
  rawHeaders,
  temporaryDirectory,
  totals,
  type TestSimulator,
} from '../support/simulator.ts'

/** Sends half of a push; resolves once the service waits for the rest, with a function that sends it. */
async function sendHalfOfAPush(simulator: TestSimulator, socket: Socket, id: string) {
  const body = JSON.stringify(check())
  const headers = `Content-Type: application/json\r\nContent-Length: ${body.length}\r\nExpect: 100-continue\r\n`
  socket.write(`PUT /v1/checks/external/${id} HTTP/1.1\r\n${rawHeaders(simulator)}${headers}\r\n`)
  await once(socket, 'data')
  socket.write(body.slice(0, 20))
  return () => socket.write(body.slice(20))
}

async function sendHalfOfABody(simulator: TestSimulator) {
  await sendHalfOfAPush(simulator, await open(simulator), 'half')
  return () => undefined
}

/** Opens a connection, with TLS if the service has it. */
async function open({ port, url }: TestSimulator): Promise<Socket> {
  const to = { port, host: '127.0.0.1', rejectUnauthorized: false }
  const isSecure = url.startsWith('https:')
  const socket = isSecure ? connectTls(to) : connect(to)
  socket.on('error', () => undefined)
  onTestFinished(() => void socket.destroy())
  await once(socket, isSecure ? 'secureConnect' : 'connect')
  return socket
}

const closed = (socket: Socket) => new Promise((resolve) => socket.resume().once('close', resolve))

async function deliverToAReceiverThatHangs({ client, push }: TestSimulator) {
  const receiver = await openReceiver('hang')
  await client.endpoints.create({ url: receiver.url, event_types: ['check.created'] })
  await push('b')
  await receiver.received(1)
  return () => receiver.answer(200)
}

async function stopReadingTheStream(simulator: TestSimulator) {
  const socket = connect(simulator.port, '127.0.0.1').on('error', () => undefined)
  onTestFinished(() => void socket.destroy())
  const reached = new Promise((resolve) => socket.once('data', resolve))
  socket.write(`GET /_sim/stream HTTP/1.1\r\n${rawHeaders(simulator)}\r\n`)
  await reached
  socket.pause()
  const items = Array.from({ length: 900 }, (_, index) => ({
    external_id: `${index}`,
    name: 'x',
    quantity: 1,
    price_cents: 0,
    note: 'x'.repeat(1000),
  }))
  for (let number = 0; number < 8; number += 1)
    await simulator.push(`large-${number}`, { items, totals: totals(0) })
  return () => undefined
}

describe('closing', () => {
  it('frees the port, and acknowledged pushes are durable', async () => {
    const dataDirectory = await temporaryDirectory()
    const { close, push, url } = await openSimulator({ dataDirectory })
    const { text } = await push('a')
    await close()
    await expect(fetch(url)).rejects.toThrow()
    const again = await openSimulator({ dataDirectory })
    expect((await again.call('GET /v1/checks/external/a')).text).toBe(text)
  })

  it('finishes a request in flight, answers a further one with 503, and accepts no new connection', async () => {
    const simulator = await openSimulator({ dataDirectory: await temporaryDirectory() })
    const body = JSON.stringify(check())
    const host = rawHeaders(simulator)
    const push = `Content-Type: application/json\r\nContent-Length: ${body.length}\r\nExpect: 100-continue\r\n\r\n`
    let answers = ''
    const socket = connect(simulator.port, '127.0.0.1')
    const first = new Promise((resolve) => socket.once('data', resolve))
    const ended = new Promise((resolve) => {
      socket.on('data', (data) => (answers += data.toString())).on('close', resolve)
    })
    socket.write(`PUT /v1/checks/external/a HTTP/1.1\r\n${host.replace('Connection: close\r\n', '')}${push}`)
    await first // 100 Continue: the push is in flight
    const closing = simulator.close()
    socket.write(`${body}GET /v1/locations HTTP/1.1\r\n${host}\r\n`)
    await Promise.all([ended, closing])
    expect(answers.match(/HTTP\/1.1 \d+/g)).toEqual(['HTTP/1.1 100', 'HTTP/1.1 201', 'HTTP/1.1 503'])
    expect(answers).toContain('"code":"shutting_down"')
    await expect(fetch(simulator.url)).rejects.toThrow()
  })

  it('with HTTPS ends idle connections at once, answers requests in flight, and cuts the rest after the grace time', async () => {
    const simulator = await openSimulator({ https: true, dataDirectory: await temporaryDirectory() })
    const [idle, slow, stuck] = [await open(simulator), await open(simulator), await open(simulator)]
    const host = rawHeaders(simulator).replace('Connection: close\r\n', '')
    idle.write(`GET /v1/locations HTTP/1.1\r\n${host}\r\n`)
    await once(idle, 'data')
    const handshake = connect(simulator.port, '127.0.0.1').on('error', () => undefined)
    handshake.write('\x16\x03\x01\x00')
    const finish = await sendHalfOfAPush(simulator, slow, 'slow')
    await sendHalfOfAPush(simulator, stuck, 'stuck')
    fakeOwnTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    const closing = simulator.close()
    await Promise.all([closed(idle), closed(handshake)])
    finish()
    expect(await textOf(slow)).toMatch(/^HTTP\/1\.1 201 /)
    expect(stuck.closed).toBe(false)
    const cut = closed(stuck)
    await vi.advanceTimersByTimeAsync(4_500)
    await Promise.all([cut, closing])
  })

  it('ends a connection without a request at once', async () => {
    const simulator = await openSimulator({ connectionLimits: { firstRequestMs: 600_000 } })
    const socket = await open(simulator)
    await simulator.client.clock.show() // By then it has been accepted.
    fakeOwnTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    await Promise.all([closed(socket), simulator.close()])
  }, 10_000)

  it.each([
    ['a body that is half sent', sendHalfOfABody],
    ['a receiver that never answers', deliverToAReceiverThatHangs],
    ['a reader of the stream that has stopped reading', stopReadingTheStream],
  ])('ends within five seconds in spite of %s, and acknowledged pushes are durable', async (_what, begin) => {
    const dataDirectory = await temporaryDirectory()
    const simulator = await openSimulator({ dataDirectory })
    const { text } = await simulator.push('a')
    const release = await begin(simulator)
    fakeOwnTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    const closing = simulator.close()
    await vi.advanceTimersByTimeAsync(4_500)
    await closing
    vi.useRealTimers()
    release()
    await expect(fetch(simulator.url)).rejects.toThrow()
    const again = await openSimulator({ dataDirectory })
    expect((await again.call('GET /v1/checks/external/a')).text).toBe(text)
    expect((await again.call('GET /v1/checks/external/half')).status).toBe(404)
    await again.idle()
    // An attempt that was aborted has not been, and is made again.
    for (const { status, attempts } of (await again.client.deliveries.list()).data)
      expect([status, attempts.length]).toEqual(['delivered', 1])
  })

  it('finishes an attempt in flight and records it', async () => {
    const dataDirectory = await temporaryDirectory()
    const answer = { go: () => {} }
    const receiver = await openReceiver((response) => (answer.go = () => response.writeHead(200).end()))
    const first = await openSimulator({ dataDirectory })
    await first.client.endpoints.create({ url: receiver.url, event_types: ['check.created'] })
    await first.push('a')
    await receiver.received(1)
    const closing = first.close()
    answer.go()
    await closing
    const second = await openSimulator({ dataDirectory })
    await second.idle()
    expect((await second.client.deliveries.list()).data).toMatchObject([
      { status: 'delivered', attempts: [{}] },
    ])
    expect(receiver.requests).toHaveLength(1)
  })
})
