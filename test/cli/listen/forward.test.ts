import { createServer, type AddressInfo, type Server, type Socket } from 'node:net'
import { createServer as createTlsServer } from 'node:tls'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createForwarder } from '../../../src/cli/listen/forward.ts'
import { createAuthority } from '../../../src/certificates.ts'
import { offerAnswerBody } from '../../../src/model/simulator/bodies.ts'
import { startReceiver } from '../../support/https-receiver.ts'

/** Forwards an attempt to a URL and resolves with the answer, which the service must accept. */
async function answerOf(to: string) {
  const { forward, close } = createForwarder({ ca: undefined, insecure: false })
  onTestFinished(close)
  const offered = {
    offer: 'off_1',
    delivery_id: 'dlv_1',
    attempt: 1,
    url: 'https://abc.listen.invalid/1',
    headers: [{ name: 'Content-Type', value: 'application/json' }],
    body: '{}',
  }
  const answer = await forward(offered, { to: new URL(to), events: [], headers: [] })
  expect(offerAnswerBody.safeParse(answer)).toMatchObject({ success: true })
  return answer
}

/** Returns the address of a server that calls `act` at the first bytes of each connection. */
const rawServer = (act: (socket: Socket) => void) =>
  addressOf(createServer((socket) => socket.on('error', () => undefined).once('data', () => act(socket))))

async function addressOf(server: Server): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  return `127.0.0.1:${(server.address() as AddressInfo).port}`
}

describe('the answer to a forwarded attempt', () => {
  it('has the first 1,000 of 3,000 headers', async () => {
    const head = `HTTP/1.1 204 No Content\r\n${'A:\r\n'.repeat(3_000)}\r\n`
    const answer = await answerOf(`http://${await rawServer((socket) => socket.end(head))}/`)
    expect(answer).toMatchObject({ status: 204, headers: { length: 1_000 } })
  })

  it('has the first 4,096 bytes of a long body', async () => {
    const { url, close } = await startReceiver({
      answer: (response) => void response.end(Buffer.alloc(10_000_000, 'x')),
    })
    onTestFinished(close)
    expect(await answerOf(url)).toMatchObject({ status: 200, body: 'x'.repeat(4_096) })
  })

  it('is tls_error when a target on https: does not use TLS', async () => {
    const address = await rawServer((socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'))
    expect(await answerOf(`https://${address}/`)).toMatchObject({ outcome: 'tls_error' })
  })

  it('is tls_error when the certificate is rejected', async () => {
    const tls = await (await createAuthority()).issue(['127.0.0.1'])
    const { url, close } = await startReceiver({ tls })
    onTestFinished(close)
    expect(await answerOf(url)).toMatchObject({ outcome: 'tls_error' })
  })

  it('is tls_error when the target needs an old version of TLS', async () => {
    const tls = await (await createAuthority()).issue(['127.0.0.1'])
    const address = await addressOf(createTlsServer({ ...tls, minVersion: 'TLSv1.1', maxVersion: 'TLSv1.1' }))
    expect(await answerOf(`https://${address}/`)).toMatchObject({ outcome: 'tls_error' })
  })

  it.each<[string, (socket: Socket) => void, string]>([
    ['closes the connection', (socket) => socket.end(), 'connection_reset'],
    ['resets the connection', (socket) => socket.resetAndDestroy(), 'connection_reset'],
    ['sends something else', (socket) => socket.end('hello\r\n\r\n'), 'network_error'],
    ['sends a status below 100', (socket) => socket.end('HTTP/1.1 099 X\r\n\r\n'), 'network_error'],
  ])('is a failure when the target %s', async (_what, act, outcome) => {
    expect(await answerOf(`http://${await rawServer(act)}/`)).toMatchObject({ outcome })
  })
})
