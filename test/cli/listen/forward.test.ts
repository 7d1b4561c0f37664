import { writeFile } from 'node:fs/promises'
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net'
import { join } from 'node:path'
import { createServer as createTlsServer } from 'node:tls'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { createForwarder } from '../../../src/cli/listen/forward.ts'
import { createAuthority } from '../../../src/certificates/authority.ts'
import { offerAnswerBody } from '../../../src/model/simulator/bodies.ts'
import { timers } from '../../../src/timers.ts'
import { emptyDirectory } from '../../support/cli.ts'
import { startReceiver } from '../../support/https-receiver.ts'

/** Forwards an attempt to a URL and resolves with the answer, which the service must accept. */
async function answerOf(to: string, options: Partial<Parameters<typeof createForwarder>[0]> = {}) {
  const { forward, close } = createForwarder({ ca: undefined, insecure: false, ...options })
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

  it('follows informational responses, which are skipped', async () => {
    const interim = ['100 Continue', '103 Early Hints', '100 Continue'].map(
      (one) => `HTTP/1.1 ${one}\r\n\r\n`,
    )
    const address = await rawServer((socket) => {
      socket.write(interim.join(''), () =>
        setImmediate(() => socket.end('HTTP/1.1 202 Accepted\r\nContent-Length: 4\r\n\r\ndone')),
      )
    })
    expect(await answerOf(`http://${address}/`)).toMatchObject({ status: 202, body: 'done' })
  })

  it('is tls_error when a target on https: does not use TLS', async () => {
    const address = await rawServer((socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'))
    expect(await answerOf(`https://${address}/`)).toMatchObject({ outcome: 'tls_error' })
  })

  const YEARS_MS = 3 * 365 * 86_400_000
  it.each([
    [
      'a certificate that has expired',
      '127.0.0.1',
      -YEARS_MS,
      '(CERT_HAS_EXPIRED). Its certificate has expired. Renew it.',
    ],
    [
      'a certificate of the future',
      '127.0.0.1',
      YEARS_MS,
      '(CERT_NOT_YET_VALID). Its certificate is not valid yet.',
    ],
    [
      'a certificate for another host',
      'localhost',
      0,
      '(ERR_TLS_CERT_ALTNAME_INVALID). Its certificate is for another host.',
    ],
  ])('is tls_error with advice for %s', async (_what, host, apart, advice) => {
    const authority = await createAuthority()
    const now = vi.spyOn(timers, 'now').mockReturnValue(Date.now() + apart)
    const tls = await authority.issue([host]).finally(() => now.mockRestore())
    const { url, close } = await startReceiver({ tls })
    onTestFinished(close)
    const answer = await answerOf(url, { ca: authority.certificatePem })
    expect(answer).toMatchObject({ outcome: 'tls_error', error: expect.stringContaining(advice) as string })
    expect(await answerOf(url, { insecure: true })).toMatchObject({ status: 200 })
  })

  it('is tls_error for an unknown authority, and a response for one of NODE_EXTRA_CA_CERTS', async () => {
    const authority = await createAuthority()
    const { url, close } = await startReceiver({ tls: await authority.issue(['127.0.0.1']) })
    onTestFinished(close)
    expect(await answerOf(url)).toEqual({
      offer: 'off_1',
      duration_ms: expect.any(Number) as number,
      outcome: 'tls_error',
      error: `tabwire listen: ${new URL(url).origin} did not answer (UNABLE_TO_VERIFY_LEAF_SIGNATURE). Its certificate is not trusted. To accept any certificate, pass --insecure.`,
    })
    const file = join(await emptyDirectory(), 'ca.pem')
    await writeFile(file, authority.certificatePem)
    vi.stubEnv('NODE_EXTRA_CA_CERTS', file)
    onTestFinished(() => void vi.unstubAllEnvs())
    expect(await answerOf(url)).toMatchObject({ status: 200 })
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
