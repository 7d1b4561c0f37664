import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { createServer as createHttpsServer } from 'node:https'
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net'
import { join } from 'node:path'
import { createServer as createTlsServer } from 'node:tls'
import { Worker } from 'node:worker_threads'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { createAuthority } from '../../../src/certificates/authority.ts'
import {
  createDestinationPolicy,
  type DestinationSettings,
} from '../../../src/delivery/destination/policy.ts'
import { createSender, type SenderSettings } from '../../../src/delivery/send/send.ts'
import { explainFailure } from '../../../src/delivery/send/failure.ts'
import { fakeOwnTimers } from '../../support/fake-timers.ts'
import { startReceiver, type Answer } from '../../support/https-receiver.ts'
import { selfSigned } from '../../support/self-signed.ts'
import { temporaryDirectory, testAuthority } from '../../support/simulator.ts'

const trash: (() => Promise<unknown>)[] = []

afterEach(async () => {
  for (const close of trash.splice(0).reverse()) await close()
})

interface Options extends Partial<Omit<SenderSettings, 'policy'>> {
  policy?: Partial<DestinationSettings>
}

async function senderWith({ policy, ...settings }: Options = {}) {
  const { certificatePem } = await testAuthority()
  const sender = createSender({
    policy: createDestinationPolicy({
      allowHttpLoopback: false,
      denyPrivate: false,
      own: {},
      resolve: async () => ['127.0.0.1'],
      ...policy,
    }),
    trust: { ca: [certificatePem], insecure: false },
    ...settings,
  })
  trash.push(() => sender.close())
  return sender
}

async function receiverWith(answer: Answer, hosts = ['127.0.0.1', 'localhost'], authority = testAuthority()) {
  const receiver = await startReceiver({ tls: await (await authority).issue(hosts), answer })
  trash.push(() => receiver.close())
  return receiver
}

async function listening(server: Server): Promise<number> {
  const sockets = new Set<Socket>()
  server.on('connection', (socket: Socket) => sockets.add(socket.on('error', () => undefined)))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  trash.push(async () => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return (server.address() as AddressInfo).port
}

/** A server that speaks TLS and then whatever `speak` writes. */
async function rawTls(speak: (socket: Socket) => void): Promise<number> {
  const tls = await (await testAuthority()).issue(['127.0.0.1'])
  return listening(
    createTlsServer(tls, (socket) => {
      socket.on('error', () => undefined).once('data', () => speak(socket))
    }),
  )
}

async function send(url: string, options: Options = {}) {
  return (await senderWith(options)).send({ url, headers: { 'X-Test': '1' }, body: '{"a":"ü"}' })
}

describe('an attempt succeeds', () => {
  it.each([200, 201, 202, 204, 299])('with %i', async (status) => {
    const { url } = await receiverWith(status)
    expect(await send(url)).toMatchObject({
      outcome: 'succeeded',
      response_status: status,
      response_body: '',
      error: null,
    })
  })

  it('with headers in time, even when the body hangs within a character', async () => {
    const part = Buffer.from('so far €').subarray(0, -1)
    const { url } = await receiverWith((response) => void response.writeHead(200).write(part))
    expect(await send(url, { bodyTimeoutMs: 20 })).toMatchObject({
      outcome: 'succeeded',
      response_body: 'so far ',
    })
  })

  it('and keeps the first 4 KiB of an endless body', async () => {
    const receiver = await receiverWith((response) => {
      const more = () => {
        if (!response.destroyed) response.write('x'.repeat(16_384), () => setImmediate(more))
      }
      response.writeHead(200)
      more()
    })
    const result = await send(receiver.url, { bodyTimeoutMs: 60_000 })
    expect(result).toMatchObject({ outcome: 'succeeded', response_body: 'x'.repeat(4096) })
  })

  it('and does not split a character of the body', async () => {
    const { url } = await receiverWith((response) => void response.writeHead(200).end('x' + '€'.repeat(2000)))
    expect((await send(url)).response_body).toBe('x' + '€'.repeat(1365))
  })

  it.each(['', 'x', 'xx', 'xxx'])('and drops a character that the limit would split: %j', async (start) => {
    for (const letter of ['ü', '€', '🍮']) {
      const { url } = await receiverWith(
        (response) => void response.writeHead(200).end(start + letter.repeat(3000)),
      )
      const whole = Math.floor((4096 - start.length) / Buffer.byteLength(letter))
      expect((await send(url)).response_body).toBe(start + letter.repeat(whole))
    }
  })

  it('and shows invalid UTF-8 as U+FFFD', async () => {
    const { url } = await receiverWith(
      (response) => void response.writeHead(200).end(Buffer.from([0x61, 0xff, 0x62])),
    )
    expect((await send(url)).response_body).toBe('a\ufffdb')
  })

  it('when the body breaks off after the headers', async () => {
    const { url } = await receiverWith((response) => {
      response.writeHead(200, { 'Content-Length': '100' }).write('half', () => response.destroy())
    })
    expect(await send(url)).toMatchObject({ outcome: 'succeeded', response_status: 200 })
  })

  it('with the body as its UTF-8 bytes', async () => {
    const receiver = await receiverWith(200)
    await send(receiver.url)
    expect(receiver.requests[0]?.body).toEqual(Buffer.from('{"a":"ü"}'))
  })

  it('on a port that browsers refuse, by name, and by plain http on loopback when that is allowed', async () => {
    const { url, port } = await receiverWith(200)
    expect(await send(url.replace('127.0.0.1', 'localhost'))).toMatchObject({ outcome: 'succeeded' })
    expect(await send(`https://LOCALHOST.:${port}/`)).toMatchObject({ outcome: 'succeeded' })
    const plain = await startReceiver()
    trash.push(() => plain.close())
    expect(await send(plain.url, { policy: { allowHttpLoopback: true } })).toMatchObject({
      outcome: 'succeeded',
    })
    expect(await send(plain.url)).toMatchObject({ outcome: 'address_refused' })
    expect(plain.requests).toHaveLength(1)
  })

  it.each([
    ['the first', ['127.0.0.1', '::1']],
    ['the last', ['::1', '127.0.0.1']],
  ])('at %s of the addresses of a name, when nothing listens at the other', async (_which, addresses) => {
    const { port } = await receiverWith(200, ['shop.example'])
    const policy = { resolve: async () => addresses }
    expect(await send(`https://shop.example:${port}/`, { policy })).toMatchObject({ outcome: 'succeeded' })
  })

  it.each([0, 600_000])(
    'and closes its connection soon after, though the receiver would keep it for %i ms (0: for ever)',
    async (keepAliveTimeout) => {
      const tls = await (await testAuthority()).issue(['127.0.0.1'])
      const server = createHttpsServer({ ...tls, keepAliveTimeout }, (_request, response) => response.end())
      const port = await listening(server)
      const closed = new Promise<void>((resolve) => {
        server.once('secureConnection', (socket: Socket) => socket.once('close', () => resolve()))
      })
      const sender = await senderWith()
      await sender.send({ url: `https://127.0.0.1:${port}/`, headers: {}, body: 'x' })
      await closed
    },
    20_000,
  )

  it('fifty times over two connections at most', async () => {
    const receiver = await receiverWith((response) => void response.writeHead(200).end('y'.repeat(1000)))
    const sender = await senderWith()
    for (let sent = 0; sent < 50; sent++) await sender.send({ url: receiver.url, headers: {}, body: 'x' })
    expect(receiver.connected()).toBeLessThanOrEqual(2)
  })
})

/** A receiver over plain TCP that does what `speak` does with each request, by its place on its connection from 0 on. */
async function rawTcp(speak: (socket: Socket, place: number) => void): Promise<string> {
  const port = await listening(
    createServer((socket) => {
      let place = 0
      // A request comes in one piece or two: only the first begins so.
      socket.on('data', (bytes) => bytes.toString('latin1').startsWith('POST ') && speak(socket, place++))
    }),
  )
  return `http://127.0.0.1:${port}/`
}

const OK = 'HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n'
const plainHttp = { policy: { allowHttpLoopback: true } }
const messageTo = (url: string) => ({ url, headers: {}, body: 'x' })

describe('a reused connection', () => {
  const closings: [string, (socket: Socket) => void][] = [
    ['ends it', (socket) => socket.end()],
    ['resets it', (socket) => socket.resetAndDestroy()],
  ]

  it.each(closings)(
    'is replaced by a new one, once, when the receiver %s without an answer',
    async (_how, close) => {
      const places: number[] = []
      const url = await rawTcp((socket, place) => {
        places.push(place)
        if (place === 0) socket.write(OK)
        else close(socket)
      })
      const sender = await senderWith(plainHttp)
      const outcomes = []
      for (let sent = 0; sent < 5; sent++) outcomes.push((await sender.send(messageTo(url))).outcome)
      expect(outcomes).toEqual(Array(5).fill('succeeded'))
      // Each but the first came twice: over the connection of the one before it, and over a new one.
      expect(places).toEqual([0, 1, 0, 1, 0, 1, 0, 1, 0])
    },
  )

  it.each(closings)('is replaced over TLS too, when the receiver %s', async (_how, close) => {
    const tls = await (await testAuthority()).issue(['127.0.0.1'])
    const sockets: Socket[] = []
    const server = createTlsServer(tls, (socket) => {
      let place = 0
      socket
        .on('error', () => undefined)
        .on('data', (bytes: Buffer) => {
          if (!bytes.toString('latin1').startsWith('POST ')) return
          const below = sockets.find(({ remotePort }) => remotePort === socket.remotePort)
          if (place++ === 0) socket.write(OK)
          else close(below ?? socket)
        })
    })
    server.on('connection', (socket: Socket) => sockets.push(socket))
    const sender = await senderWith()
    const message = messageTo(`https://127.0.0.1:${await listening(server)}/`)
    for (let sent = 0; sent < 3; sent++)
      expect(await sender.send(message)).toMatchObject({ outcome: 'succeeded', error: null })
  })

  it.each(closings)(
    'does not fail the next request when the receiver %s while it is idle',
    async (_how, close) => {
      const sockets: Socket[] = []
      const url = await rawTcp((socket) => {
        sockets.push(socket)
        socket.write(OK)
      })
      const sender = await senderWith(plainHttp)
      for (let sent = 0; sent < 10; sent++) {
        expect(await sender.send(messageTo(url))).toMatchObject({ outcome: 'succeeded' })
        const [socket] = sockets.slice(-1) as [Socket]
        const closed = once(socket, 'close')
        close(socket)
        // Now this process has closed it, and the sender may not have seen that yet.
        await closed
      }
      expect(new Set(sockets).size).toBe(10)
    },
  )

  it.each<[string, (socket: Socket) => void]>([
    ['the beginning of an answer', (socket) => socket.end('HTTP/1.1 2')],
    ['an informational answer', (socket) => socket.end('HTTP/1.1 100 Continue\r\n\r\n')],
  ])('that is closed after %s fails the attempt, and the request is not sent again', async (_what, close) => {
    let requests = 0
    const url = await rawTcp((socket, place) => {
      requests += 1
      if (place === 0) socket.write(OK)
      else close(socket)
    })
    const sender = await senderWith(plainHttp)
    await sender.send(messageTo(url))
    const result = await sender.send(messageTo(url))
    expect(result.outcome).not.toBe('succeeded')
    expect(result.response_status).toBeNull()
    expect(requests).toBe(2)
  })

  it('is replaced at most once, and never when a new connection is closed', async () => {
    let requests = 0
    const url = await rawTcp((socket) => {
      requests += 1
      if (requests === 1) socket.write(OK)
      else socket.end()
    })
    const sender = await senderWith(plainHttp)
    await sender.send(messageTo(url))
    expect(await sender.send(messageTo(url))).toMatchObject({ outcome: 'connection_reset' })
    expect(requests).toBe(3)
    expect(await sender.send(messageTo(url))).toMatchObject({ outcome: 'connection_reset' })
    expect(requests).toBe(4)
  })

  it('shares one deadline with its replacement', async () => {
    fakeOwnTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    const requests: Socket[] = []
    const url = await rawTcp((socket) => {
      requests.push(socket)
      if (requests.length === 1) socket.write(OK)
    })
    const sender = await senderWith({ ...plainHttp, timeoutMs: 10_000 })
    await sender.send(messageTo(url))
    const sent = sender.send(messageTo(url))
    await vi.waitUntil(() => requests.length === 2)
    vi.advanceTimersByTime(6_000)
    requests[1]?.end()
    await vi.waitUntil(() => requests.length === 3)
    vi.advanceTimersByTime(4_000)
    expect(await sent).toMatchObject({ outcome: 'timeout' })
  })

  it('and whose replacement does not open is explained by the replacement', async () => {
    let isFirst = true
    const secure = createTlsServer(await (await testAuthority()).issue(['127.0.0.1']), (socket) => {
      socket
        .on('error', () => undefined)
        .on('data', () => {
          if (isFirst) socket.write(OK)
          else socket.destroy()
          isFirst = false
        })
    })
    const port = await listening(
      createServer((socket) => void (isFirst && secure.emit('connection', socket))),
    )
    const sender = await senderWith({ timeoutMs: 1_500 })
    const url = `https://127.0.0.1:${port}/`
    expect(await sender.send(messageTo(url))).toMatchObject({ outcome: 'succeeded' })
    expect(await sender.send(messageTo(url))).toMatchObject({
      outcome: 'timeout',
      error: expect.stringMatching(/^Could not connect to /) as string,
    })
  })
})

describe('the headers of a response are kept', () => {
  const answer = (...lines: string[]) => ['HTTP/1.1 200 OK', ...lines, '', ''].join('\r\n')

  it('as they came over the wire, without those of informational responses', async () => {
    const early = 'HTTP/1.1 103 Early Hints\r\nLink: </style.css>\r\n\r\n'
    const lines = [
      'X-Name:  caf\u00e9 \u009b2J',
      'Set-Cookie: a=1',
      'x-EMPTY:',
      'Set-Cookie: b=2',
      'Content-Length: 0',
    ]
    const url = await rawTcp((socket) => socket.write(early + answer(...lines), 'latin1'))
    const result = await send(url, plainHttp)
    expect(result.response_headers).toEqual([
      { name: 'X-Name', value: 'caf\u00e9 \u009b2J' },
      { name: 'Set-Cookie', value: 'a=1' },
      { name: 'x-EMPTY', value: '' },
      { name: 'Set-Cookie', value: 'b=2' },
      { name: 'Content-Length', value: '0' },
    ])
    expect(Object.keys(result)).not.toContain('response_headers_cut')
  })

  it('as an empty list when there are none', async () => {
    const url = await rawTcp((socket) => socket.end(answer()))
    expect((await send(url, plainHttp)).response_headers).toEqual([])
  })

  it.each([
    ['hangs', () => undefined],
    ['breaks off', (socket: Socket) => socket.destroy()],
  ])('when the body %s', async (_how, then) => {
    const url = await rawTcp((socket) => socket.write(`${answer('Content-Length: 9')}so`, () => then(socket)))
    expect(await send(url, { ...plainHttp, bodyTimeoutMs: 20 })).toMatchObject({
      outcome: 'succeeded',
      response_headers: [{ name: 'Content-Length', value: '9' }],
    })
  })

  it('up to 4 KiB, and a cut is marked', async () => {
    const url = await rawTcp((socket) =>
      socket.write(answer(`X-Long: ${'a'.repeat(5000)}`, 'Content-Length: 0')),
    )
    expect(await send(url, plainHttp)).toMatchObject({
      outcome: 'succeeded',
      response_headers: [{ name: 'X-Long', value: 'a'.repeat(4096 - 'X-Long'.length) }],
      response_headers_cut: true,
    })
  })

  it('and absent without a response', async () => {
    const url = await rawTcp((socket) => socket.destroy())
    expect(Object.keys(await send(url, plainHttp))).not.toContain('response_headers')
  })
})

describe('informational answers are skipped', () => {
  const head = (status: string) => `HTTP/1.1 ${status}\r\n\r\n`

  it('unless their lines end without CR: then the attempt fails at once', async () => {
    const url = await rawTcp((socket) => socket.write(`HTTP/1.1 103 Early Hints\nLink: </a>\n\n${OK}`))
    const sender = await senderWith({ ...plainHttp, timeoutMs: 60_000 })
    expect(await sender.send(messageTo(url))).toMatchObject({ outcome: 'network_error' })
  })

  it.each<[string, string]>([
    ['100', head('100 Continue')],
    ['100 without a reason', 'HTTP/1.1 100\r\n\r\n'],
    ['100 by HTTP/1.0', 'HTTP/1.0 100 Continue\r\nX-A: b\r\n\r\n'],
    ['102', head('102 Processing')],
    ['103', 'HTTP/1.1 103 Early Hints\r\nLink: </style.css>; rel=preload\r\n\r\n'],
    [
      'several',
      head('100 Continue') + head('100 Continue') + head('103 Early Hints') + head('102 Processing'),
    ],
    ['100 after 103', head('103 Early Hints') + head('100 Continue')],
    [
      '100 between others',
      head('102 Processing') + head('100 Continue') + head('103 Early Hints') + head('100 Continue'),
    ],
  ])('%s, sent in one piece with the answer, before it, and byte by byte', async (_which, interim) => {
    const answer = 'HTTP/1.1 201 Created\r\nContent-Length: 4\r\n\r\ndone'
    const ways: ((socket: Socket) => unknown)[] = [
      (socket) => socket.write(interim + answer),
      (socket) => socket.write(interim, () => setImmediate(() => socket.write(answer))),
      (socket) => void writeBytes(socket, interim + answer),
    ]
    for (const way of ways) {
      const url = await rawTcp((socket) => void way(socket))
      const sender = await senderWith(plainHttp)
      for (let sent = 0; sent < 2; sent++)
        expect(await sender.send(messageTo(url))).toMatchObject({
          outcome: 'succeeded',
          response_status: 201,
          response_body: 'done',
        })
    }
  })

  it('and a body that looks like one is kept', async () => {
    const text = head('100 Continue')
    const url = await rawTcp((socket) =>
      socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${text.length}\r\n\r\n${text}`),
    )
    expect((await send(url, plainHttp)).response_body).toBe(text)
  })

  it('and one without an end fails the attempt', async () => {
    const url = await rawTcp((socket) => socket.write(`HTTP/1.1 100 Continue\r\nX-A: ${'a'.repeat(20_000)}`))
    expect((await send(url, plainHttp)).outcome).not.toBe('succeeded')
  })

  it.each(['100 Continue', '102 Processing', '103 Early Hints'])(
    'up to 16 KiB: an endless series of %s fails the attempt at once',
    async (status) => {
      const url = await rawTcp((socket) => {
        const more = () => {
          while (socket.writable && socket.write(head(status).repeat(100)));
        }
        socket.on('drain', more)
        more()
      })
      const result = await send(url, { ...plainHttp, timeoutMs: 60_000 })
      expect(result).toMatchObject({ outcome: 'network_error', response_status: null })
      expect(result.error).toContain('more than 16 KiB of informational responses')
    },
  )
})

/** Each byte in a packet of its own. */
async function writeBytes(socket: Socket, text: string): Promise<void> {
  for (const byte of text)
    await new Promise<void>((resolve) => socket.write(byte, () => setImmediate(resolve)))
}

describe('an answer that has arrived is read before a timeout is declared', () => {
  it('when this process was stopped, or busy, until after the deadline', async () => {
    const receiver = await receiverInWorker()
    const sender = await senderWith({ ...plainHttp, timeoutMs: 1_000 })
    const sent = sender.send(messageTo(receiver.url))
    await receiver.received
    receiver.answerWhileThisProcessStands()
    expect(await sent).toMatchObject({ outcome: 'succeeded', response_status: 200 })
  })
})

/** A receiver in another thread, which answers while this one does nothing at all. */
async function receiverInWorker() {
  const flags = new Int32Array(new SharedArrayBuffer(8))
  const worker = new Worker(
    `const { workerData: flags, parentPort } = require('node:worker_threads')
    const server = require('node:net').createServer((socket) => {
      socket.once('data', () => {
        parentPort.postMessage('received')
        Atomics.wait(flags, 0, 0)
        socket.write(${JSON.stringify(OK)}, () => {
          Atomics.store(flags, 1, 1)
          Atomics.notify(flags, 1)
        })
      }).on('error', () => undefined)
    })
    server.listen(0, '127.0.0.1', () => parentPort.postMessage(server.address().port))`,
    { eval: true, workerData: flags },
  )
  trash.push(() => worker.terminate())
  const [port] = (await once(worker, 'message')) as [number]
  return {
    url: `http://127.0.0.1:${port}/`,
    received: once(worker, 'message'),
    answerWhileThisProcessStands() {
      Atomics.store(flags, 0, 1)
      Atomics.notify(flags, 0)
      Atomics.wait(flags, 1, 0)
      // And on until the deadline is over.
      Atomics.wait(flags, 1, 1, 1_100)
    },
  }
}

describe('an attempt fails', () => {
  it.each([300, 304, 400, 401, 404, 410, 429, 500, 503, 599])('with %i', async (status) => {
    const { url } = await receiverWith(
      (response) => void response.writeHead(status).end(status === 304 ? undefined : 'why'),
    )
    const result = await send(url)
    expect(result).toMatchObject({ outcome: 'bad_status', response_status: status })
    expect(result.error).toContain(String(status))
    if (status !== 304) expect(result.response_body).toBe('why')
  })

  it.each([
    [405, 'This path does not accept POST.'],
    [413, 'The receiver, or a proxy before it, refuses bodies of this size.'],
    [502, 'A proxy got no response from the receiver.'],
    [504, 'A proxy got no response from the receiver.'],
  ])('with %i, and its usual cause is named', async (status, cause) => {
    const { url } = await receiverWith(status)
    const { error } = await send(url)
    expect(error).toContain(`The receiver returned ${status}. Only 2xx counts as delivered. ${cause}`)
  })

  it.each([301, 302, 303, 307, 308])('with %i, and the redirect is not followed', async (status) => {
    const other = await receiverWith(200)
    const { url } = await receiverWith(
      (response) => void response.writeHead(status, { Location: other.url }).end(),
    )
    const result = await send(url)
    expect(result).toMatchObject({ outcome: 'bad_status', response_status: status })
    expect(result.error).toContain(`(${status}) to ${other.url}. Redirects are not followed`)
    expect(other.connected()).toBe(0)
  })

  it('when no headers come in time, and closes the connection', async () => {
    const receiver = await receiverWith('hang')
    const result = await send(receiver.url, { timeoutMs: 50 })
    expect(result).toMatchObject({ outcome: 'timeout', response_status: null, response_body: null })
    expect(result.error).toContain('within 0.05 s')
    expect(result.duration_ms).toBeGreaterThanOrEqual(49)
  })

  it('when only an informational response comes', async () => {
    const port = await rawTls((socket) => socket.write('HTTP/1.1 102 Processing\r\n\r\n'))
    expect(await send(`https://127.0.0.1:${port}/`, { timeoutMs: 50 })).toMatchObject({ outcome: 'timeout' })
  })

  it('when the TLS handshake stalls', async () => {
    const port = await listening(createServer())
    expect(await send(`https://127.0.0.1:${port}/`, { timeoutMs: 50 })).toMatchObject({
      outcome: 'timeout',
      error: `Could not connect to 127.0.0.1:${port} within 0.05 s. Check host and port, and whether a firewall is in between.`,
    })
  })

  it('when nothing listens', async () => {
    const result = await send('https://127.0.0.1:1/')
    expect(result).toMatchObject({ outcome: 'connection_refused' })
    expect(result.error).toContain('No server listens at 127.0.0.1:1')
  })

  it.each(['099', '000'])('when the status is %s', async (status) => {
    const port = await rawTls(
      (socket) => void socket.end(`HTTP/1.1 ${status} Odd\r\nContent-Length: 0\r\n\r\n`),
    )
    expect(await send(`https://127.0.0.1:${port}/`)).toMatchObject({
      outcome: 'network_error',
      error: `The response of 127.0.0.1:${port} is not valid HTTP, such as a status below 100. Check which server listens on that port.`,
    })
  })

  it('when the connection is reset', async () => {
    const { url } = await receiverWith('reset')
    expect(await send(url)).toMatchObject({ outcome: 'connection_reset' })
  })

  it('when the connection is closed without an answer', async () => {
    const port = await rawTls((socket) => socket.end())
    expect(await send(`https://127.0.0.1:${port}/`)).toMatchObject({ outcome: 'connection_reset' })
  })

  it('when the name cannot be resolved', async () => {
    const resolve = () => Promise.reject(Object.assign(new Error('no such name'), { code: 'ENOTFOUND' }))
    const result = await send('https://shop.example/', { policy: { resolve } })
    expect(result).toMatchObject({ outcome: 'dns_error' })
    expect(result.error).toContain('shop.example')
  })

  it('when the answer is not HTTP', async () => {
    const port = await rawTls((socket) => socket.end('SSH-2.0-OpenSSH_9.9\r\n'))
    const result = await send(`https://127.0.0.1:${port}/`)
    expect(result).toMatchObject({ outcome: 'network_error' })
    expect(result.error).toContain('not HTTP/1.1')
  })

  it.each([
    ['two lengths', 'Content-Length: 1\r\nContent-Length: 5'],
    ['a length and chunks', 'Content-Length: 5\r\nTransfer-Encoding: chunked'],
    ['a length that is no safe integer', 'Content-Length: 99999999999999999999999999'],
  ])('when the response has %s', async (_which, headers) => {
    const url = await rawTcp((socket) => socket.end(`HTTP/1.1 200 OK\r\n${headers}\r\n\r\nabcde`))
    const result = await send(url, plainHttp)
    expect(result).toMatchObject({ outcome: 'network_error', response_status: null })
    expect(result.error).toContain('headers for its length')
  })

  it('when the receiver wants to speak another protocol', async () => {
    const port = await rawTls((socket) =>
      socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n'),
    )
    const result = await send(`https://127.0.0.1:${port}/`, { timeoutMs: 200 })
    expect(result.outcome).not.toBe('succeeded')
    expect(result.error).not.toBeNull()
  })

  it('when the headers are endless', async () => {
    const port = await rawTls((socket) => socket.write(`HTTP/1.1 200 OK\r\nX-Long: ${'x'.repeat(100_000)}`))
    const result = await send(`https://127.0.0.1:${port}/`)
    expect(result).toMatchObject({ outcome: 'network_error' })
    expect(result.error).toContain('headers')
  })

  it('when the receiver speaks plain HTTP on that port', async () => {
    const plain = await startReceiver()
    trash.push(() => plain.close())
    const result = await send(plain.url.replace('http:', 'https:'))
    expect(result).toMatchObject({ outcome: 'tls_error' })
    expect(result.error).toContain('tabwire listen --forward-to')
  })
})

describe('a certificate', () => {
  it('of an unknown authority is refused, with its issuer and what to do', async () => {
    const stranger = await createAuthority()
    const receiver = await receiverWith(200, ['127.0.0.1'], Promise.resolve(stranger))
    const result = await send(receiver.url)
    expect(result).toMatchObject({ outcome: 'tls_error' })
    expect(result.error).toMatch(/issued by Tabwire local authority [0-9a-f]{8}.*--cacert /)
    expect(receiver.requests).toHaveLength(0)
    const trusting = await send(receiver.url, { trust: { ca: [stranger.certificatePem], insecure: false } })
    expect(trusting).toMatchObject({ outcome: 'succeeded' })
  })

  it('of a local authority that is made while the service runs is trusted from then on', async () => {
    const made = await createAuthority()
    const receiver = await receiverWith(200, ['127.0.0.1'], Promise.resolve(made))
    const local: { pem?: string } = {}
    const sender = await senderWith({ trust: { ca: [], insecure: false, local: async () => local.pem } })
    const message = { url: receiver.url, headers: {}, body: 'x' }
    expect(await sender.send(message)).toMatchObject({ outcome: 'tls_error' })
    local.pem = made.certificatePem
    expect(await sender.send(message)).toMatchObject({ outcome: 'succeeded' })
  })

  it('that is self-signed is accepted with --insecure only', async () => {
    const receiver = await receiverWith(200, ['other.example'], createAuthority())
    expect(await send(receiver.url)).toMatchObject({ outcome: 'tls_error' })
    expect(await send(receiver.url, { trust: { ca: [], insecure: true } })).toMatchObject({
      outcome: 'succeeded',
    })
  })

  it('of an authority in NODE_EXTRA_CA_CERTS is accepted', async () => {
    const authority = await createAuthority()
    const receiver = await receiverWith(200, ['127.0.0.1'], Promise.resolve(authority))
    const file = join(await temporaryDirectory(), 'ca.pem')
    await writeFile(file, authority.certificatePem)
    // Contexts are parsed once for the same further authorities.
    const sent = async () => {
      const { certificatePem } = await createAuthority()
      return send(receiver.url, { trust: { ca: [certificatePem], insecure: false } })
    }
    expect(await sent()).toMatchObject({ outcome: 'tls_error' })
    vi.stubEnv('NODE_EXTRA_CA_CERTS', file)
    trash.push(async () => vi.unstubAllEnvs())
    expect(await sent()).toMatchObject({ outcome: 'succeeded' })
  })

  it('for another host is refused', async () => {
    const receiver = await receiverWith(200, ['other.example'])
    const result = await send(receiver.url)
    expect(result).toMatchObject({ outcome: 'tls_error' })
    expect(result.error).toMatch(/is for another host.*other\.example/)
  })

  it('for hundreds of other hosts is refused with the first ones', async () => {
    const hosts = Array.from({ length: 500 }, (_, at) => `shop-${at}.example`)
    const receiver = await receiverWith(200, hosts)
    const result = await send(receiver.url)
    expect(result.error).toMatch(/is for another host: DNS:shop-0\.example, .*…\. Use a certificate/)
    expect(result.error?.length).toBeLessThan(1_000)
  })

  it('of a connection that TLS refuses is explained without places in the source of OpenSSL', async () => {
    const tls = await (await testAuthority()).issue(['127.0.0.1'])
    const port = await listening(createTlsServer({ ...tls, ciphers: 'AES256-SHA', maxVersion: 'TLSv1.2' }))
    expect(await send(`https://127.0.0.1:${port}/`)).toMatchObject({
      outcome: 'tls_error',
      // Versions of OpenSSL name the protocol differently.
      error: expect.stringMatching(
        /^The TLS connection to 127\.0\.0\.1:\d+ failed: \S+ alert handshake failure \(ERR_SSL_\S+_ALERT_HANDSHAKE_FAILURE\)\. Check the receiver's TLS settings\.$/,
      ) as string,
    })
  })

  it('of a receiver for HTTP/2 only is explained', async () => {
    const tls = await (await testAuthority()).issue(['127.0.0.1'])
    const port = await listening(createTlsServer({ ...tls, ALPNProtocols: ['h2'] }))
    const { error } = await send(`https://127.0.0.1:${port}/`)
    expect(error).toBe(
      `The TLS connection to 127.0.0.1:${port} failed: it does not accept HTTP/1.1 (ERR_SSL_TLSV1_ALERT_NO_APPLICATION_PROTOCOL). Check the receiver's TLS settings.`,
    )
  })

  it('is verified on each connection, not once per session', async () => {
    const receiver = await receiverWith(
      (response) => void response.writeHead(200, { Connection: 'close' }).end(),
    )
    const sender = await senderWith()
    const url = receiver.url.replace('127.0.0.1', 'localhost')
    const message = { url, headers: {}, body: 'x' }
    expect(await sender.send(message)).toMatchObject({ outcome: 'succeeded' })
    await receiver.close()
    const stranger = await (await createAuthority()).issue(['localhost'])
    const other = await startReceiver({ tls: stranger })
    trash.push(() => other.close())
    expect(await sender.send({ ...message, url: `https://localhost:${other.port}/` })).toMatchObject({
      outcome: 'tls_error',
    })
  })

  it('that is self-signed is reported as self-signed', async () => {
    const receiver = await startReceiver({ tls: await selfSigned('127.0.0.1') })
    trash.push(() => receiver.close())
    const result = await send(receiver.url)
    expect(result).toMatchObject({ outcome: 'tls_error' })
    expect(result.error).toContain('self-signed')
  })

  it.each([
    ['CERT_HAS_EXPIRED', 'has expired'],
    ['CERT_NOT_YET_VALID', 'not valid yet'],
    ['UNABLE_TO_GET_ISSUER_CERT', 'an unknown authority'],
    ['ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION', 'TLS settings'],
  ])('with %s is explained', (code, words) => {
    const failure = explainFailure(Object.assign(new Error('x'), { code }), 'shop.example', 10_000)
    expect(failure.outcome).toBe('tls_error')
    expect(failure.error).toContain(words)
  })
})

describe('the policy at sending', () => {
  it.each([
    'https://169.254.169.254/',
    'https://[fe80::1]/',
    'https://0.0.0.0/',
    'https://[::ffff:169.254.169.254]/',
  ])('sends nothing to %s, and stores no header', async (url) => {
    const result = await send(url)
    expect(Object.keys(result)).not.toContain('response_headers')
    expect(result).toMatchObject({ outcome: 'address_refused', response_status: null })
    expect(result.error).toContain('Not sent')
  })

  it('checks every address of a name, and connects to none when one is refused', async () => {
    const receiver = await receiverWith(200)
    const resolve = async () => ['127.0.0.1', '169.254.169.254']
    const result = await send(`https://shop.example:${receiver.port}/`, { policy: { resolve } })
    expect(result).toMatchObject({ outcome: 'address_refused' })
    expect(result.error).toContain('shop.example resolves to 169.254.169.254')
    expect(receiver.connected()).toBe(0)
  })

  it('sends nothing to the service itself, under any name', async () => {
    const receiver = await receiverWith(200)
    const policy = { own: { address: { host: '127.0.0.1', port: receiver.port } } }
    for (const host of ['127.0.0.1', 'localhost', 'this-box.example', '[::1]', '2130706433'])
      expect(await send(`https://${host}:${receiver.port}/`, { policy })).toMatchObject({
        outcome: 'address_refused',
      })
    expect(receiver.connected()).toBe(0)
  })
})

describe('a sender', () => {
  it('aborts an attempt on its signal', async () => {
    const receiver = await receiverWith('hang')
    const sender = await senderWith()
    const controller = new AbortController()
    const sent = sender.send({ url: receiver.url, headers: {}, body: 'x' }, { signal: controller.signal })
    await receiver.received(1)
    controller.abort(new Error('taken back'))
    await expect(sent).rejects.toThrow('taken back')
  })

  it('closes connections that hang before they are ready', async () => {
    const server = createServer()
    const port = await listening(server)
    const sender = await senderWith()
    const sent = sender.send({ url: `https://127.0.0.1:${port}/`, headers: {}, body: 'x' })
    const [socket] = (await once(server, 'connection')) as [Socket]
    const closed = once(socket.resume(), 'close')
    await sender.close()
    await closed
    expect((await sent).outcome).not.toBe('succeeded')
  })
})
