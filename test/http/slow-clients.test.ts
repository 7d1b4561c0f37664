import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import { describe, expect, it, onTestFinished } from 'vitest'
import { stateText } from '../../src/model/simulator/record-lines.ts'
import { check, item, openSimulator, rawHeaders } from '../support/simulator.ts'

describe('a client that is slow', () => {
  it('to end its first headers gets 408 with an id', async () => {
    const simulator = await openSimulator({ connectionLimits: { firstRequestMs: 60_000, headersMs: 20 } })
    const socket = open(simulator.port)
    socket.write('GET /v1/locations HTTP/1.1\r\n')
    const answer = await text(socket)
    expect(answer).toMatch(/^HTTP\/1\.1 408 /)
    expect(answer).toMatch(/x-request-id: req_/)
  })

  it('to end the headers of a later request gets 408 after the earlier response', async () => {
    const simulator = await openSimulator({ connectionLimits: { headersMs: 20 } })
    const { port, apiKey } = simulator
    const socket = open(port)
    const answers = text(socket)
    const request = `GET /v1/locations HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nAuthorization: Bearer ${apiKey}\r\n`
    socket.once('data', () => socket.write(request))
    socket.write(`${request}\r\n`)
    expect((await answers).match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 200', 'HTTP/1.1 408'])
  })

  it('that sends nothing gets no response, which would answer its first request', async () => {
    const simulator = await openSimulator({ connectionLimits: { firstRequestMs: 200, headersMs: 20 } })
    const opened = performance.now()
    expect(await text(open(simulator.port))).toBe('')
    // Not after the time for headers, which have not begun.
    expect(performance.now() - opened).toBeGreaterThan(190)
  })

  it('that sends an empty line after the time for headers gets 408, too', async () => {
    const limits = { firstRequestMs: 1_200, headersMs: 50, requestMs: 50 }
    const simulator = await openSimulator({ connectionLimits: limits })
    const socket = open(simulator.port)
    const answer = text(socket)
    setTimeout(() => socket.write('\r\n'), 200)
    expect(await answer).toMatch(/^HTTP\/1\.1 408 /)
  })

  it('is not blamed while the service itself is stalled', async () => {
    const limits = { firstRequestMs: 2000, headersMs: 2000, requestMs: 2000 }
    const simulator = await openSimulator({ connectionLimits: limits })
    const [whole, half] = [open(simulator.port), open(simulator.port)]
    await Promise.all([once(whole, 'connect'), once(half, 'connect')])
    await simulator.client.clock.show() // By then both have been accepted.
    const request = `GET /v1/locations HTTP/1.1\r\n${rawHeaders(simulator)}\r\n`
    whole.write(request)
    half.write(request.slice(0, -2))
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 2_100)
    const answers = await Promise.all([text(whole), text(half)])
    expect(answers.map((answer) => answer.slice(0, 12))).toEqual(['HTTP/1.1 200', 'HTTP/1.1 408'])
  })

  it('is not blamed for a large push that waits for an injected latency', async () => {
    const limits = { headersMs: 500, requestMs: 500 }
    const simulator = await openSimulator({ connectionLimits: limits })
    await simulator.client.faults.set({ faults: [{ on: 'api', latency_ms: 1_800 }] })
    const items = Array.from({ length: 800 }, (_, index) => item(`item-${index}`, { name: 'x'.repeat(150) }))
    const body = JSON.stringify(check({ items }))
    const head = `PUT /v1/checks/external/a HTTP/1.1\r\n${rawHeaders(simulator)}Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n`
    const [whole, half] = [open(simulator.port), open(simulator.port)]
    whole.write(head + body)
    half.write(head + body.slice(0, body.length / 2))
    const answers = await Promise.all([text(whole), text(half)])
    expect(answers.map((answer) => answer.slice(0, 12))).toEqual(['HTTP/1.1 201', 'HTTP/1.1 408'])
  })

  it('to send a state has time while data arrives, and no longer', async () => {
    const limits = { firstRequestMs: 50, headersMs: 400, requestMs: 400 }
    const simulator = await openSimulator({ connectionLimits: limits })
    const bytes = Buffer.from([...stateText(await simulator.client.state.get())].join(''))
    const head = `PUT /_sim/state HTTP/1.1\r\n${rawHeaders(simulator)}Content-Type: application/json\r\nContent-Length: ${bytes.length}\r\n\r\n`
    const [slow, stuck] = [open(simulator.port), open(simulator.port)]
    stuck.write(head + bytes.subarray(0, 100).toString())
    const refused = text(stuck)
    slow.write(head)
    const pieces = 16
    for (let piece = 0; piece < pieces; piece += 1) {
      slow.write(bytes.subarray((piece * bytes.length) / pieces, ((piece + 1) * bytes.length) / pieces))
      // A connection that says nothing is given up after 50 ms.
      await text(open(simulator.port))
    }
    expect(await refused).toMatch(/^HTTP\/1\.1 408 /)
    expect(await text(slow)).toMatch(/^HTTP\/1\.1 200 /)
  })

  it.each(['', 'Expect: tea\r\n'])(
    'after its first request keeps its connection, with the header %j',
    async (more) => {
      const simulator = await openSimulator({ connectionLimits: { firstRequestMs: 300 } })
      const socket = open(simulator.port)
      const { port, apiKey } = simulator
      const request = `GET /v1/locations HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nAuthorization: Bearer ${apiKey}\r\n`
      socket.write(`${request}${more}\r\n`)
      const [answer] = (await once(socket, 'data')) as [Buffer]
      // Longer than clients and load balancers keep a connection that they do not use.
      expect(answer.toString()).toMatch(/^keep-alive: timeout=65\r$/im)
      // A later connection that says nothing is given up: so the time of this one has passed as well.
      await text(open(port))
      socket.write(`${request}connection: close\r\n\r\n`)
      expect(await text(socket)).toMatch(/HTTP\/1\.1 200 /)
    },
  )
})

describe('a connection beyond the limit', () => {
  it('replaces the one that has been idle longest', async () => {
    const simulator = await openSimulator({ connectionLimits: { connections: 2 } })
    const first = open(simulator.port)
    await once(first, 'connect')
    const second = open(simulator.port)
    await once(second, 'connect')
    const third = open(simulator.port)
    await once(first, 'close')
    for (const socket of [second, third]) {
      socket.end(`GET /v1/locations HTTP/1.1\r\n${rawHeaders(simulator)}\r\n`)
      expect(await text(socket)).toMatch(/^HTTP\/1\.1 200 /)
    }
  })

  it('replaces one without a request before an older one that was used since', async () => {
    const simulator = await openSimulator({ connectionLimits: { connections: 2 } })
    const used = open(simulator.port)
    await once(used, 'connect')
    const unused = open(simulator.port)
    await once(unused, 'connect')
    const request = `GET /v1/locations HTTP/1.1\r\n${rawHeaders(simulator)}\r\n`
    used.write(request.replace('Connection: close\r\n', ''))
    await once(used, 'data')
    open(simulator.port)
    await once(unused, 'close')
    used.write(request)
    expect(await text(used)).toMatch(/HTTP\/1\.1 200 /)
  })

  it('is closed when all others are being answered', async () => {
    const simulator = await openSimulator({ connectionLimits: { connections: 2 } })
    const streams = [open(simulator.port), open(simulator.port)]
    for (const socket of streams) {
      socket.write(`GET /_sim/stream HTTP/1.1\r\n${rawHeaders(simulator)}\r\n`)
      await once(socket, 'data')
    }
    await once(open(simulator.port), 'close')
    expect(streams.map(({ destroyed }) => destroyed)).toEqual([false, false])
  })
})

function open(port: number): Socket {
  const socket = connect(port, '127.0.0.1')
  socket.on('error', () => {})
  onTestFinished(() => void socket.destroy())
  return socket
}
