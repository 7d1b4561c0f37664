import type { IncomingMessage, ServerResponse } from 'node:http'
import { pipeline } from 'node:stream/promises'
import { rootCertificates } from 'node:tls'
import { Agent, request } from 'undici'
import type { Target, Header } from './target.ts'

interface ForwarderOptions {
  /** PEM of the local authority: certificates of HTTPS targets may come from it. */
  ca: string
  /** Accept any certificate of a target. */
  insecure: boolean
}

/** Forwards requests to targets, and their responses back. */
export interface Forwarder {
  pass(incoming: IncomingMessage, answer: ServerResponse, target: Target): Promise<void>
  close(): Promise<void>
}

/**
 * Makes a forwarder. It streams bytes, headers and status unchanged, and sets no time limit: that of the service
 * (specification section 8) is what the receiver is tested against.
 */
export function createForwarder({ ca, insecure }: ForwarderOptions): Forwarder {
  const dispatcher = new Agent({
    // One connection per delivery, so that no kept connection closes under it.
    pipelining: 0,
    headersTimeout: 0,
    bodyTimeout: 0,
    connect: { ca: [...rootCertificates, ca], rejectUnauthorized: !insecure, timeout: 0 },
  })
  return {
    async pass(incoming, answer, target) {
      const given = new AbortController()
      // The service has timed out, or has read enough of the response.
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

/** Answers 502 with the reason, so that the attempt fails and shows it. */
function refuse(answer: ServerResponse, reason: string): void {
  answer.writeHead(502, { 'Content-Type': 'text/plain; charset=utf-8' }).end(`tabwire listen: ${reason}\n`)
}

const reasons: Record<string, string> = {
  ECONNREFUSED: 'no program listens there. Start the receiver, or correct --forward-to.',
  ENOTFOUND: 'the host does not exist. Correct --forward-to.',
  ECONNRESET: 'it closed the connection without a response. Check the receiver for a crash.',
  UND_ERR_SOCKET: 'it closed the connection without a response. Check the receiver for a crash.',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'its certificate is self-signed. Pass --insecure to accept it.',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'its certificate is not trusted. Pass --insecure to accept it.',
  SELF_SIGNED_CERT_IN_CHAIN: 'its certificate is not trusted. Pass --insecure to accept it.',
  ERR_TLS_CERT_ALTNAME_INVALID: 'its certificate is for another host. Pass --insecure to accept it.',
  EPROTO: 'it does not use TLS. Check whether --forward-to should be http:.',
  ERR_SSL_WRONG_VERSION_NUMBER: 'it does not use TLS. Check whether --forward-to should be http:.',
}

function unreachable(error: unknown, to: URL): string {
  const { code = '', message } = error as NodeJS.ErrnoException
  return `${to.origin} did not answer${code === '' ? '' : ` (${code})`}: ${reasons[code] ?? message}`
}

/** Hop-by-hop headers (RFC 9110 section 7.6.1), and those that Node answers itself. */
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
 * Returns the headers for the next hop, alternating names and values in their order and spelling. `replacing`
 * replaces those of the same name; `Host` is left to the client of the request.
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
