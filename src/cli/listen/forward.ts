import type { IncomingMessage, ServerResponse } from 'node:http'
import { pipeline } from 'node:stream/promises'
import type { Readable } from 'node:stream'
import { Agent, buildConnector, request, type Dispatcher } from 'undici'
import { skipContinue } from '../../delivery/send/connections.ts'
import { MOST_HEADERS, type OfferedAttempt } from '../../model/offer.ts'
import type { OfferAnswer, Unanswered } from '../../model/simulator/bodies.ts'
import { trustAdvice } from '../../model/text/advice.ts'
import { defaultDeliveryTimes } from '../../simulator-options.ts'
import { trustedContext } from '../../certificates/trusted.ts'
import type { ForwardTarget, Header } from './target.ts'

const { timeoutMs, bodyTimeoutMs } = defaultDeliveryTimes

interface ForwarderOptions {
  /** PEM of the local authority, if there is one: certificates of HTTPS targets may come from it. */
  ca: string | undefined
  /** Accept any certificate of a target. */
  insecure: boolean
}

/** Forwards requests to targets, and their responses back. */
export interface Forwarder {
  pass(incoming: IncomingMessage, answer: ServerResponse, target: ForwardTarget): Promise<void>
  /** Forwards an offered attempt and resolves with the answer to it, within the time limit of the service. */
  forward(offered: OfferedAttempt, target: ForwardTarget): Promise<OfferAnswer>
  close(): Promise<void>
}

/**
 * Makes a forwarder. It passes on bytes, headers and status unchanged. `pass` streams and sets no time limit: that of the
 * service (specification section 8) is what the receiver is tested against.
 */
export function createForwarder({ ca, insecure }: ForwarderOptions): Forwarder {
  // One connection per delivery, so that no kept connection closes under it.
  const limits = { pipelining: 0, headersTimeout: 0, bodyTimeout: 0 }
  const plain = new Agent({ ...limits, connect: connectorOf({ timeout: 0 }) })
  const openEncrypted = () => {
    const secureContext = trustedContext(ca === undefined ? [] : [ca])
    const connect = connectorOf({ secureContext, rejectUnauthorized: !insecure, timeout: 0 })
    return new Agent({ ...limits, connect })
  }
  let encrypted: Agent | undefined
  const send = (
    { to, headers }: ForwardTarget,
    { rawHeaders, ...sent }: Pick<Dispatcher.RequestOptions, 'method' | 'body'> & { rawHeaders: string[] },
    signal: AbortSignal,
  ) =>
    request(to, {
      ...sent,
      headers: passedOn(rawHeaders, headers),
      responseHeaders: 'raw',
      signal,
      dispatcher: to.protocol === 'http:' ? plain : (encrypted ??= openEncrypted()),
    })
  return {
    async forward({ offer, headers, body }, target) {
      const started = performance.now()
      const elapsed = () => Math.round(performance.now() - started)
      const signal = AbortSignal.timeout(timeoutMs)
      const rawHeaders = headers.flatMap(({ name, value }) => [name, value])
      try {
        const response = await send(target, { method: 'POST', rawHeaders, body }, signal)
        const duration_ms = elapsed()
        const received = pairs(response.headers as unknown as string[]).slice(0, MOST_HEADERS)
        return {
          offer,
          duration_ms,
          status: response.statusCode,
          headers: received.map(([name, value]) => ({ name, value })),
          body: await startOf(response.body),
        }
      } catch (error) {
        return { offer, duration_ms: elapsed(), ...failureOf(error, target.to, signal.aborted) }
      }
    },
    async pass(incoming, answer, target) {
      const given = new AbortController()
      // The service has timed out, or has read enough of the response.
      answer.once('close', () => given.abort())
      try {
        const { method, rawHeaders } = incoming
        const sent = { method: method === 'POST' ? 'POST' : 'GET', rawHeaders, body: incoming } as const
        const response = await send(target, sent, given.signal)
        answer.writeHead(response.statusCode, passedOn(response.headers as unknown as string[]))
        await pipeline(response.body, answer)
      } catch (error) {
        if (given.signal.aborted) return
        if (answer.headersSent) answer.destroy()
        else refuse(answer, unreachable(error, target.to))
      }
    },
    async close() {
      await Promise.all([plain.destroy(), encrypted?.destroy()])
    },
  }
}

/** Opens connections that skip informational responses as those of the service do. */
function connectorOf(options: buildConnector.BuildOptions): buildConnector.connector {
  const connect = buildConnector(options)
  return (target, callback) =>
    connect(target, (error, socket) => {
      if (error !== null) return callback(error, null)
      skipContinue(socket)
      callback(null, socket)
    })
}

/** Answers 502 with the reason, so that the attempt fails and shows it. */
function refuse(answer: ServerResponse, reason: string): void {
  answer.writeHead(502, { 'Content-Type': 'text/plain; charset=utf-8' }).end(`tabwire listen: ${reason}\n`)
}

const CLOSED = 'it closed the connection without a response. Check the receiver for a crash.'
const NO_TLS = 'it does not use TLS. Check whether --forward-to should be http:.'

const reasons: Record<string, [Unanswered, string]> = {
  ECONNREFUSED: [
    'connection_refused',
    'no program listens there. Start the receiver, or correct --forward-to.',
  ],
  ENOTFOUND: ['dns_error', 'the host does not exist. Correct --forward-to.'],
  ECONNRESET: ['connection_reset', CLOSED],
  UND_ERR_SOCKET: ['connection_reset', CLOSED],
  EPROTO: ['tls_error', NO_TLS],
  ERR_SSL_WRONG_VERSION_NUMBER: ['tls_error', NO_TLS],
}

/** Outcomes of errors whose own message explains them. */
const outcomes: readonly (readonly [RegExp, Unanswered])[] = [
  [/^ETIMEDOUT$/, 'timeout'],
  [/^(EPIPE|ECONNABORTED|UND_ERR_RES_CONTENT_LENGTH_MISMATCH)$/, 'connection_reset'],
  [/^EAI_/, 'dns_error'],
  [/^ERR_(SSL|TLS)_/, 'tls_error'],
]

function unreachable(error: unknown, to: URL): string {
  const { code = '', message } = error as NodeJS.ErrnoException
  const failed = `${to.origin} did not answer${code === '' ? '' : ` (${code})`}`
  const advice = certificateAdvice(code)
  return advice === undefined ? `${failed}: ${reasons[code]?.[1] ?? message}` : `${failed}. ${advice}`
}

function certificateAdvice(code: string): string | undefined {
  const advice = trustAdvice(code, 'Its certificate is not trusted.')
  return advice && `${advice} To accept any certificate, pass --insecure.`
}

/** Returns why an offered attempt got no response. */
function failureOf(error: unknown, to: URL, isLate: boolean): { outcome: Unanswered; error: string } {
  if (isLate)
    return {
      outcome: 'timeout',
      error: `tabwire listen: ${to.origin} did not answer within ${timeoutMs / 1000} s. Return 2xx at once and process the event afterwards.`,
    }
  const { code = '' } = error as NodeJS.ErrnoException
  const usual = certificateAdvice(code) === undefined ? 'network_error' : 'tls_error'
  const [outcome = outcomes.find(([codes]) => codes.test(code))?.[1] ?? usual] = reasons[code] ?? []
  return { outcome, error: `tabwire listen: ${unreachable(error, to)}`.slice(0, MOST_ERROR) }
}

/** Characters of an error that the service accepts. */
const MOST_ERROR = 1_000

/** Bytes of a response body that the service keeps. */
const KEPT_BYTES = 4_096

/** Reads the start of a body as text. A body that is longer, hangs or breaks off is cut, as by the service. */
async function startOf(body: Readable): Promise<string> {
  const chunks: Buffer[] = []
  let size = 0
  let hasEnded = false
  const late = setTimeout(() => body.destroy(), bodyTimeoutMs)
  try {
    for await (const chunk of body) {
      chunks.push(chunk as Buffer)
      size += (chunk as Buffer).length
      if (size > KEPT_BYTES) break
    }
    hasEnded = size <= KEPT_BYTES
  } catch {
    // The status has decided the attempt.
  } finally {
    clearTimeout(late)
  }
  const kept = Buffer.concat(chunks).subarray(0, KEPT_BYTES)
  // A character that is cut is left out.
  return new TextDecoder().decode(kept, { stream: !hasEnded })
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
