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
import { continueWhenRead } from './node-request.ts'
import { unknownLine, type RequestLine } from './request-context.ts'
import type { ConnectionLimits } from '../model/simulator/settings.ts'
import { timers } from '../timers.ts'

/** Limit of header fields per request. Node silently drops fields above its limit, which is therefore one higher. */
const MAX_HEADERS = 1_000

/** Node's events of a request: without Expect, with `100-continue`, and with another expectation. */
export const REQUEST_EVENTS = ['request', 'checkContinue', 'checkExpectation'] as const

/**
 * Responds to errors that Node would handle itself, so that every response has X-Request-Id (specification section 1).
 * Earlier requests of the connection get their responses first, in order.
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

  /** Refuses the newest request, or the invalid data after it, and closes the connection. Only the first refusal counts. */
  const refuse = (socket: Duplex, refusal: Refusal, line: RequestLine) => {
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
   * Drains the input before timing out, so that our own stalls are not blamed on the client. A long body gets the same
   * time again while more of it arrives than `read`, the bytes at the last check.
   */
  const refuseIfLate = (socket: Duplex, read = 0) => {
    const before = latest.get(socket)
    const wasAnswered = before?.writableEnded === true
    timers.setImmediate(() => {
      const now = latest.get(socket)
      const isWhole = now?.req.complete === true && (now !== before || !wasAnswered)
      const bytes = now === undefined ? 0 : bytesOfLongBody(now.req)
      if (isWhole || isSilent(socket)) return
      // A handler that waits, for example for an injected delay, has not begun to read, or sent `100 Continue`.
      const isUnread =
        now?.req.readableFlowing === null &&
        (now.req.readableLength > 0 || now.req.listenerCount('resume') > 0)
      if (isUnread || bytes > read) timers.setTimeout(() => refuseIfLate(socket, bytes), requestMs).unref()
      else refuse(socket, tooLate(), unknownLine)
    })
  }

  // Without this, Node itself refuses requests without Host, and the response has no request id.
  Object.assign(server, { requireHostHeader: false })
  // A client may half-close after its request and still read the response.
  Object.assign(server, { httpAllowHalfOpen: true })
  server.maxHeadersCount = MAX_HEADERS + 1
  for (const event of REQUEST_EVENTS)
    server.on(event, ({ socket }: IncomingMessage, response: ServerResponse) => latest.set(socket, response))
  server.on('checkContinue', continueWhenRead)
  for (const event of REQUEST_EVENTS.slice(1)) server.on(event, handler)
  server.on('connect', (request, socket) => {
    // Node has detached the socket and its error handler.
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
    // Without a response: a client that has opened the connection in advance would take it for that of its first request.
    const close = () => {
      if (isSilent(socket)) socket.destroy()
      // Node no longer watches a connection that has sent an empty line after its time for headers.
      else if (!latest.has(socket)) timers.setTimeout(refuseUnread, requestMs).unref()
    }
    const refuseUnread = () => {
      if (!latest.has(socket)) refuseIfLate(socket)
    }
    const timer = timers.setTimeout(() => timers.setImmediate(close), firstRequestMs)
    timer.unref()
    socket.once('close', () => timers.clearTimeout(timer))
    // An endless response, such as the live stream, ends when its reader leaves.
    socket.once('end', () => {
      const answer = latest.get(socket)
      const isStream = /\/stream(\?|$)/.test(answer?.req.url ?? '')
      if (isStream && answer?.headersSent === true && !answer.writableEnded) socket.destroy()
    })
  }
  server.on(server instanceof TlsServer ? 'secureConnection' : 'connection', watch)
}

/** Aborts the body of a request so that its handler responds, unless it already has; then closes the connection. */
function breakOff(response: ServerResponse, refusal: Refusal): void {
  const { req: request } = response
  if (response.writableFinished) return void request.socket.end()
  response.once('close', () => request.socket.end())
  if (!response.headersSent) response.shouldKeepAlive = false
  breakOffBody(request, refusal)
}

/** Returns why a parsed request is refused before routing; `undefined` when it is accepted. */
export function refusalOfHead(request: IncomingMessage, isAllowedHost: IsAllowedHost): Refusal | undefined {
  const { httpVersion, rawHeaders, url: target = '' } = request
  if (httpVersion !== '1.1' && httpVersion !== '1.0') return wrongVersion(`HTTP/${httpVersion}`)
  if (rawHeaders.length > 2 * MAX_HEADERS)
    return new Refusal(
      'headers_too_large',
      `The request has more than the limit of ${MAX_HEADERS} header fields. Send fewer.`,
    )
  const names = rawHeaders.filter((_, at) => at % 2 === 0)
  if (names.filter((name) => name.length === 4 && name.toLowerCase() === 'host').length > 1)
    return new Refusal(
      'invalid_request',
      'The request has more than one Host header, which servers interpret differently. Send one.',
    )
  if (/[#\\]/.test(target))
    return new Refusal(
      'invalid_request',
      'The request target contains # or \\, which servers interpret differently. Write %23 or %5C instead.',
    )
  if (target.startsWith('/') || target === '*') return undefined
  const host = absoluteForm.exec(target)?.[1]
  if (host !== undefined && isAllowedHost(host)) return undefined
  return new Refusal(
    'invalid_request',
    `The request target ${JSON.stringify(target.slice(0, 100))} is neither a path nor a URL of this service. Send only the path, such as /v1/locations.`,
  )
}

/** A target such as `http://127.0.0.1:4100/v1`, whose host replaces the Host header (RFC 9112 section 3.2.2). */
const absoluteForm = /^https?:\/\/([^/?@]+)(?=[/?]|$)/i

/** Returns path and query of a target, which is a path or an accepted URL. */
export function pathOfTarget(target: string): string {
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
      'The request headers are longer than the limit of 16 KiB. Send fewer or shorter headers.',
    )
  if (code === 'HPE_PAUSED_H2_UPGRADE') return wrongVersion('HTTP/2.0')
  if (code === 'HPE_INVALID_EOF_STATE')
    return new Refusal(
      'invalid_request',
      'The connection ended before the whole request had arrived. Send the request again. Content-Length must be the number of bytes in its body.',
    )
  const [, version, lineEnd] = / (HTTP\/\d\.\d)(\r?\n)/.exec(headOf(rawPacket)) ?? []
  if (
    code === 'HPE_INVALID_VERSION' &&
    lineEnd === '\n' &&
    (version === 'HTTP/1.1' || version === 'HTTP/1.0')
  )
    return new Refusal(
      'invalid_request',
      'The lines of the request end with LF alone. End each line of the head with CR LF.',
    )
  if (code === 'HPE_INVALID_METHOD' && rawPacket?.[0] === 0x16 && rawPacket[1] === 0x03)
    return new Refusal(
      'invalid_request',
      'This port speaks plain HTTP, not TLS. Use http://, or start the service with --https.',
    )
  if (/^(PROXY (TCP[46]|UNKNOWN)|\r\n\r\n\0\r\nQUIT\n)/.test(headOf(rawPacket)))
    return new Refusal(
      'invalid_request',
      'The connection begins with the PROXY protocol, which this service does not speak. Turn it off in the proxy, such as send-proxy of HAProxy.',
    )
  const [, target] = /^[A-Z]+ (.*) HTTP\/\d\.\d\r?\n/.exec(headOf(rawPacket)) ?? []
  if (target !== undefined && /[^\x21-\x7e]/.test(target))
    return new Refusal(
      'invalid_request',
      'The path contains a space or a character outside ASCII. Percent-encode the id, such as %20 for a space.',
    )
  if (code === 'HPE_INVALID_VERSION') return wrongVersion(version)
  if (code === 'HPE_INVALID_METHOD' && /^[a-z]+ \//.test(headOf(rawPacket)))
    return new Refusal(
      'invalid_request',
      'Methods are case-sensitive. Write the method in capitals, such as PUT.',
    )
  return new Refusal(
    'invalid_request',
    'The request is not valid HTTP/1.1. Check the request line and the headers.',
  )
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
  return new Refusal(
    'invalid_request',
    'CONNECT is not supported, because this service is not a proxy. Send another method.',
  )
}

export function lineOf({ method = '-', url = '-' }: IncomingMessage): RequestLine {
  return { method, path: url }
}

/** Returns the request line at the start of a packet, or the unknown line. */
function requestLineIn(packet: Buffer | undefined): RequestLine {
  const [, method, path] = /^([A-Z]+) ([\x21-\x7e]+)(?: |\r?\n)/.exec(headOf(packet)) ?? []
  return method === undefined || path === undefined ? unknownLine : { method, path }
}

/** Returns the part of a packet that may contain the request line. */
function headOf(packet: Buffer | undefined): string {
  return packet?.toString('latin1', 0, 2_048) ?? ''
}

/** Returns true when no byte was received: browsers open connections in advance. */
function isSilent(socket: Duplex): boolean {
  return 'bytesRead' in socket && socket.bytesRead === 0
}

function responseText({ status, headers, body }: ReturnType<App['refuse']>): string {
  const all = { ...headers, 'content-length': Buffer.byteLength(body), connection: 'close' }
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}`)
  return `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('\r\n')}\r\n\r\n${body}`
}
