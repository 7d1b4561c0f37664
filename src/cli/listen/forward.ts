import type { IncomingMessage, ServerResponse } from 'node:http'
import { pipeline } from 'node:stream/promises'
import { rootCertificates } from 'node:tls'
import { Agent, request } from 'undici'
import type { Target, Header } from './target.ts'

interface RelaySettings {
  /** PEM of the local authority, which targets on HTTPS may have their certificates from. */
  ca: string
  /** Accept any certificate of a target. */
  insecure: boolean
}

/** Passes requests on, and answers back. */
export interface Relay {
  pass(incoming: IncomingMessage, answer: ServerResponse, target: Target): Promise<void>
  close(): Promise<void>
}

/**
 * Makes a relay: bytes, headers and status go through as they are, never more of them in memory than is under way. It
 * knows no deadline: that of the service (specification section 8) is what the receiver is tested against.
 */
export function createRelay({ ca, insecure }: RelaySettings): Relay {
  const dispatcher = new Agent({
    // Each delivery on a connection of its own, as none can be closed under it then.
    pipelining: 0,
    headersTimeout: 0,
    bodyTimeout: 0,
    connect: { ca: [...rootCertificates, ca], rejectUnauthorized: !insecure, timeout: 0 },
  })
  return {
    async pass(incoming, answer, target) {
      const given = new AbortController()
      // The service has given up, or has read enough of the answer.
      answer.once('close', () => given.abort())
      try {
        const response = await request(target.to, {
          method: incoming.method === 'POST' ? 'POST' : 'GET',
          headers: passedOn(incoming.rawHeaders, target.headers),
          body: incoming,
          responseHeaders: 'raw',
          signal: given.signal,
          dispatcher,
        })
        answer.writeHead(response.statusCode, passedOn(response.headers as unknown as string[]))
        await pipeline(response.body, answer)
      } catch (error) {
        if (given.signal.aborted) return
        if (answer.headersSent) answer.destroy()
        else refuse(answer, unreachable(error, target.to))
      }
    },
    close: () => dispatcher.destroy(),
  }
}

/** 502: the attempt fails, and shows why. */
function refuse(answer: ServerResponse, reason: string): void {
  answer.writeHead(502, { 'Content-Type': 'text/plain; charset=utf-8' }).end(`tabwire listen: ${reason}\n`)
}

const reasons: Record<string, string> = {
  ECONNREFUSED: 'nothing listens there. Start the receiver, or correct --forward-to.',
  ENOTFOUND: 'there is no such host. Correct --forward-to.',
  ECONNRESET: 'it closed the connection without an answer. Look for a crash in the receiver.',
  UND_ERR_SOCKET: 'it closed the connection without an answer. Look for a crash in the receiver.',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'its certificate is self-signed. Pass --insecure to accept that.',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'its certificate is not trusted. Pass --insecure to accept it.',
  SELF_SIGNED_CERT_IN_CHAIN: 'its certificate is not trusted. Pass --insecure to accept it.',
  ERR_TLS_CERT_ALTNAME_INVALID: 'its certificate is for another host. Pass --insecure to accept it.',
  EPROTO: 'it does not speak TLS. Is it http:?',
  ERR_SSL_WRONG_VERSION_NUMBER: 'it does not speak TLS. Is it http:?',
}

function unreachable(error: unknown, to: URL): string {
  const { code = '', message } = error as NodeJS.ErrnoException
  return `${to.origin} did not answer${code === '' ? '' : ` (${code})`}: ${reasons[code] ?? message}`
}

/** What belongs to one connection and not to the message on it (RFC 9110 section 7.6.1), and what Node answers itself. */
const hopByHop = new Set([
  'connection',
  'expect',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
])

/**
 * The headers of a message for the next hop: names and values in turn, as they were written, in their order. The headers
 * of the user go in the place of those of the same name, and `Host` is left to the sender of the request.
 */
export function passedOn(raw: readonly string[], replacing: readonly Header[] = []): string[] {
  const headers = pairs(raw)
  const named = headers.filter(([name]) => lower(name) === 'connection')
  const dropped = new Set([
    ...hopByHop,
    ...named.flatMap(([, value]) => value.split(',').map((name) => lower(name.trim()))),
    ...replacing.map(([name]) => lower(name)),
    'host',
  ])
  return [...headers.filter(([name]) => !dropped.has(lower(name))), ...replacing].flat()
}

function pairs(raw: readonly string[]): Header[] {
  return raw.flatMap((name, index): Header[] => (index % 2 === 0 ? [[name, raw[index + 1] ?? '']] : []))
}

function lower(name: string): string {
  return name.toLowerCase()
}
