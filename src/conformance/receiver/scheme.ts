import { bareHost } from '../../model/loopback.ts'
import { connect as connectPlain, isIP } from 'node:net'
import { connect as connectTls } from 'node:tls'

/** How long the other scheme may take to show itself, in milliseconds. */
const WAIT_MS = 2_000

/** Whether a server speaks the scheme that the URL does not name: TLS behind `http:`, plain HTTP behind `https:`. */
export async function speaksOtherScheme(url: URL): Promise<boolean> {
  const host = bareHost(url)
  return url.protocol === 'https:'
    ? speaksPlainHttp(host, Number(url.port || 443))
    : speaksTls(host, Number(url.port || 80))
}

/** Ends after the handshake; nothing is sent, so whose certificate it is does not matter. */
function speaksTls(host: string, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const servername = isIP(host) === 0 ? host : ''
    const socket = connectTls({ host, port, servername, rejectUnauthorized: false })
    const end = (answer: boolean) => {
      socket.destroy()
      resolve(answer)
    }
    socket.setTimeout(WAIT_MS, () => end(false))
    socket.once('secureConnect', () => end(true))
    socket.once('error', () => end(false))
    socket.once('close', () => end(false))
  })
}

function speaksPlainHttp(host: string, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connectPlain({ host, port })
    const end = (answer: boolean) => {
      socket.destroy()
      resolve(answer)
    }
    socket.setTimeout(WAIT_MS, () => end(false))
    socket.once('connect', () =>
      socket.write(`OPTIONS / HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`),
    )
    socket.once('data', (first: Buffer) => end(first.toString('latin1').startsWith('HTTP/')))
    socket.once('error', () => end(false))
    socket.once('close', () => end(false))
  })
}
