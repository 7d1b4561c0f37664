import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'

/** One received request, and whether its signature is valid. */
export interface Received {
  verified: boolean
  /** The raw body. */
  body: string
  encrypted: boolean
}

/** Verifies a signature header against the raw body. */
export type VerifySignature = (body: Buffer, header: string, secret: string) => Promise<boolean>

/** Starts a typical receiver: HTTPS, verifies the raw bytes, answers 204 or 400. */
export async function startReceiver(
  tls: { cert: string; key: string },
  verify: VerifySignature = verifyByWebCrypto,
) {
  const waiting: ((received: Received) => void)[] = []
  const arrived: Received[] = []
  let secret = ''
  const server = createServer(tls, (request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const body = Buffer.concat(chunks)
      const header = String(request.headers['x-service-signature'] ?? '')
      void verify(body, header, secret).then((verified) => {
        response.writeHead(verified ? 204 : 400).end()
        const received = { verified, body: body.toString(), encrypted: 'encrypted' in request.socket }
        const waiter = waiting.shift()
        if (waiter === undefined) arrived.push(received)
        else waiter(received)
      })
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `https://localhost:${port}/webhooks`,
    /** Sets the signing secret, once it is known. */
    expect: (signingSecret: string) => void (secret = signingSecret),
    /** Resolves with the next delivery, in order of arrival. */
    next: () =>
      new Promise<Received>((resolve) => {
        const received = arrived.shift()
        if (received === undefined) waiting.push(resolve)
        else resolve(received)
      }),
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

/** Verifies with Web Crypto, independently of the code that signs: specification section 5, steps 1 to 5. */
export const verifyByWebCrypto: VerifySignature = async (body, header, secret) => {
  const [, t, v1] = /^t=(\d+),v1=([0-9a-f]{64})$/.exec(header) ?? []
  if (t === undefined || v1 === undefined || Math.abs(Date.now() / 1000 - Number(t)) > 300) return false
  const algorithm = { name: 'HMAC', hash: 'SHA-256' }
  const key = await crypto.subtle.importKey('raw', Buffer.from(secret), algorithm, false, ['verify'])
  const signed = Buffer.concat([Buffer.from(`${t}.`), body])
  return crypto.subtle.verify('HMAC', key, Buffer.from(v1, 'hex'), signed)
}
