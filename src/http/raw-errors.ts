import {
  STATUS_CODES,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
} from 'node:http'
import type { Duplex } from 'node:stream'
import { Server as TlsServer } from 'node:tls'
import { Refusal } from '../model/refusal.ts'
import type { App } from './app.ts'
import { breakOffBody, bytesOfLongBody } from './body.ts'
import type { IsAllowedHost } from './auth/host-check.ts'
import { unknownLine, type RequestLine } from './request-context.ts'
import { timers } from '../timers.ts'

/** Limits on slow clients and on their number. */
export interface ConnectionLimits {
  /** Milliseconds until a new connection's first request must have arrived with its headers. */
  firstRequestMs: number
  /** Milliseconds that the headers of a further request may take. */
  headersMs: number
  /** Milliseconds that a whole request may take. */
  requestMs: number
  /** Connections at a time; a further one takes the place of an idle one, and is closed when there is none. */
  connections: number
}

/** Header fields of one request. Node drops further ones silently, so the server is set to show one more. */
export const MAX_HEADERS = 1_000

/**
 * Answers what Node would answer by itself, or close without an answer, so that every answer carries X-Request-Id
 * (specification section 1). Requests that came before on the same connection are answered first, in their order.
 */
export function answerRawErrors(
  server: Server,
  handler: RequestListener,
  app: Pick<App, 'refuse'>,
  { firstRequestMs, requestMs }: Pick<ConnectionLimits, 'firstRequestMs' | 'requestMs'>,
): void {
  /** The response to the newest request of a connection. */
  const latest = new WeakMap<Duplex, ServerResponse>()
  const refused = new WeakSet<Duplex>()

  /** Answers the newest request, or what comes behind it, and closes the connection. Only the first refusal counts. */
  const refuse = (socket: Duplex, refusal: Refusal, line: RequestLine | null) => {
    if (refused.has(socket)) return
    refused.add(socket)
    const send = () => {
      if (socket.writable) socket.end(responseText(app.refuse(refusal, line)))
    }
    const before = latest.get(socket)
    if (before === undefined) send()
    else if (!before.req.complete) breakOff(before, refusal)
    else if (before.writableFinished) send()
    else before.once('close', send)
  }
  /**
   * Reads what has arrived first: a service that was kept from reading must not blame the client. A long body has as much
   * time again as long as more of it arrives than was `read` at the last look.
   */
  const refuseIfLate = (socket: Duplex, read = 0) => {
    const before = latest.get(socket)
    const wasAnswered = before?.writableEnded === true
    timers.setImmediate(() => {
      const now = latest.get(socket)
      const isWhole = now?.req.complete === true && (now !== before || !wasAnswered)
      const bytes = now === undefined ? 0 : bytesOfLongBody(now.req)
      if (isWhole) return
      if (bytes > read) timers.setTimeout(() => refuseIfLate(socket, bytes), requestMs).unref()
      else refuse(socket, tooLate(), isSilent(socket) ? null : unknownLine)
    })
  }
  const note = (request: IncomingMessage, response: ServerResponse) =>
    void latest.set(request.socket, response)

  // Without a Host header Node answers 400 without an id; our own check answers with one.
  Object.assign(server, { requireHostHeader: false })
  // A client may close its side behind a request and still read the answer; Node would close both sides.
  Object.assign(server, { httpAllowHalfOpen: true })
  server.maxHeadersCount = MAX_HEADERS + 1
  server.on('request', note)
  server.on('checkExpectation', note).on('checkExpectation', handler)
  server.on('connect', (request, socket) => {
    // Node has let go of the socket, with its error handler.
    socket.on('error', () => socket.destroy()).resume()
    refuse(socket, noTunnel(), lineOf(request))
  })
  server.on('clientError', (error: ParserError, socket) => {
    if (error.code === LATE) refuseIfLate(socket)
    else if (error.code?.startsWith('HPE_') === true) {
      const isNext = latest.get(socket)?.writableFinished !== false
      refuse(socket, parserRefusal(error), isNext ? requestLineIn(error.rawPacket) : unknownLine)
    } else socket.destroy()
  })
  const watch = (socket: Duplex) => {
    // Node looks for requests that are slow to begin every 30 seconds only.
    const timer = timers.setTimeout(() => {
      if (!latest.has(socket)) refuseIfLate(socket)
    }, firstRequestMs)
    timer.unref()
    socket.once('close', () => timers.clearTimeout(timer))
    // An answer without an end, such as the live stream, ends with its reader.
    socket.once('end', () => {
      const answer = latest.get(socket)
      if (answer?.headersSent === true && !answer.writableEnded) socket.destroy()
    })
  }
  server.on(server instanceof TlsServer ? 'secureConnection' : 'connection', watch)
}

/** Has the handler of a request answer that its body broke off, unless it has answered already; then closes the connection. */
function breakOff(response: ServerResponse, refusal: Refusal): void {
  const { req: request } = response
  if (response.writableFinished) return void request.socket.end()
  response.once('close', () => request.socket.end())
  if (!response.headersSent) response.shouldKeepAlive = false
  breakOffBody(request, refusal)
}

/** Why a request that Node's parser has accepted is refused before it is routed; `undefined` when it is not. */
export function refusalOfHead(request: IncomingMessage, isAllowedHost: IsAllowedHost): Refusal | undefined {
  const { httpVersion, rawHeaders, url: target = '' } = request
  if (httpVersion !== '1.1' && httpVersion !== '1.0') return wrongVersion(`HTTP/${httpVersion}`)
  if (rawHeaders.length > 2 * MAX_HEADERS)
    return new Refusal(
      'headers_too_large',
      `The request has more than ${MAX_HEADERS} header fields, the most that is accepted. Send fewer.`,
    )
  if (countOf('host', rawHeaders) > 1)
    return new Refusal(
      'invalid_request',
      'The request has more than one Host header, of which clients and servers believe different ones. Send one.',
    )
  if (/[#\\]/.test(target))
    return new Refusal(
      'invalid_request',
      'The request target holds # or \\, which clients and servers read differently. Write %23 or %5C instead.',
    )
  if (target.startsWith('/') || target === '*') return undefined
  const host = absoluteForm.exec(target)?.[1]
  if (host !== undefined && isAllowedHost(host)) return undefined
  return new Refusal(
    'invalid_request',
    `The request target ${JSON.stringify(target.slice(0, 100))} is no path and no URL of this service. Send the path alone, such as /v1/locations.`,
  )
}

/** How many fields of this name, in small letters, there are. Names stand at even places. */
function countOf(name: string, rawHeaders: readonly string[]): number {
  let count = 0
  for (let at = 0; at < rawHeaders.length; at += 2)
    if (rawHeaders[at]?.length === name.length && rawHeaders[at]?.toLowerCase() === name) count += 1
  return count
}

/** `http://127.0.0.1:4100/v1`: of such a target the host counts, and no header (RFC 9112 section 3.2.2). */
const absoluteForm = /^https?:\/\/([^/?@]+)(?=[/?]|$)/i

/** The path and query of a target that is a path or an accepted URL. */
export function pathOf(target: string): string {
  if (target.startsWith('/')) return target
  const path = target.replace(absoluteForm, '')
  return path === target || path.startsWith('/') ? path : `/${path}`
}

interface ParserError extends NodeJS.ErrnoException {
  rawPacket?: Buffer
}

/** Node's code for a request that did not arrive in time. */
const LATE = 'ERR_HTTP_REQUEST_TIMEOUT'

function parserRefusal({ code, rawPacket }: ParserError): Refusal {
  if (code === 'HPE_HEADER_OVERFLOW')
    return new Refusal(
      'headers_too_large',
      'The request headers are longer than 16 KiB, the most that is accepted. Send fewer or shorter ones.',
    )
  if (code === 'HPE_PAUSED_H2_UPGRADE') return wrongVersion('HTTP/2.0')
  if (code === 'HPE_INVALID_VERSION') return wrongVersion(/ (HTTP\/\d\.\d)\r?\n/.exec(headOf(rawPacket))?.[1])
  return new Refusal('invalid_request', 'The request is not valid HTTP/1.1.')
}

function wrongVersion(version = 'This version of HTTP'): Refusal {
  return new Refusal(
    'http_version_not_supported',
    `${version} is not supported. Send the request as HTTP/1.1 or HTTP/1.0.`,
  )
}

function tooLate(): Refusal {
  return new Refusal('request_timeout', 'The request did not arrive in time. Send it again.')
}

function noTunnel(): Refusal {
  return new Refusal('invalid_request', 'CONNECT is not supported: this service is no proxy.')
}

export function lineOf({ method = '-', url = '-' }: IncomingMessage): RequestLine {
  return { method, path: url }
}

/** The request line at the start of what arrived, as far as there is a readable one. */
function requestLineIn(packet: Buffer | undefined): RequestLine {
  const [, method, path] = /^([A-Z]+) ([\x21-\x7e]+)(?: |\r?\n)/.exec(headOf(packet)) ?? []
  return method === undefined || path === undefined ? unknownLine : { method, path }
}

/** As much of a packet as a request line that is kept may take. */
function headOf(packet: Buffer | undefined): string {
  return packet?.toString('latin1', 0, 2_048) ?? ''
}

/** Whether nothing at all was sent: browsers open connections in advance, and mean nothing by it. */
function isSilent(socket: Duplex): boolean {
  return 'bytesRead' in socket && socket.bytesRead === 0
}

function responseText({ status, headers, body }: ReturnType<App['refuse']>): string {
  const all = { ...headers, 'content-length': Buffer.byteLength(body), connection: 'close' }
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}`)
  return `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('\r\n')}\r\n\r\n${body}`
}
