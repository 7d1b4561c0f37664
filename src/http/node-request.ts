import type { IncomingMessage, ServerResponse } from 'node:http'
import { FastResponse } from 'srvx'
import { Refusal } from '../model/refusal.ts'
import { timers } from '../timers.ts'

/** Returns Node's own request and response; an empty object for a call within the process. */
export function nodeOf(request: object): { req?: IncomingMessage; res?: ServerResponse } {
  return (
    (request as { runtime?: { node?: { req?: IncomingMessage; res?: ServerResponse } } }).runtime?.node ?? {}
  )
}

/**
 * Returns a signal that aborts when the caller disconnects before the response: when the connection breaks or the caller
 * half-closes it, which look alike. Its reason is a refusal, which a caller that half-closed still reads. The signal
 * does not abort for a caller that half-closed before the request started.
 */
export function goneSignal(request: Request): AbortSignal {
  const { req, res } = nodeOf(request)
  if (req === undefined || res === undefined) return request.signal
  const gone = new AbortController()
  const { socket } = req
  const abort = () => gone.abort(aborted())
  const forget = () => {
    socket.off('end', abort)
    if (!res.writableEnded) abort()
  }
  socket.once('end', abort)
  res.once('close', forget).once('finish', forget)
  if (res.destroyed) forget()
  return gone.signal
}

function aborted(): Refusal {
  return new Refusal(
    'invalid_request',
    'The connection was closed before the response, so the request was aborted. Keep it open until the response has arrived.',
  )
}

/**
 * Returns true when nothing has read a request's body that announces more than `limit` bytes. After the response, Node would
 * read and drop all of it.
 */
export function hasUnreadLongBody(request: object, limit: number): boolean {
  const { req } = nodeOf(request)
  return req?.readableFlowing === null && Number(req.headers['content-length'] ?? 0) > limit
}

/** A response with a complete body, which is sent without the steps of a web response: they cost a seventh of a push. */
export class CompleteResponse extends FastResponse {
  readonly #body: string | Uint8Array
  readonly #headers: Readonly<Record<string, string>>

  constructor(body: string | Uint8Array, status: number, headers: Readonly<Record<string, string>>) {
    super(body, { status, headers })
    this.#body = body
    this.#headers = headers
  }

  sendTo(response: ServerResponse): void {
    const head = ['content-length', String(Buffer.byteLength(this.#body))]
    for (const name in this.#headers) head.push(name, this.#headers[name] ?? '')
    response.writeHead(this.status, head)
    const keepsConnection = response.shouldKeepAlive && this.#headers.connection !== 'close'
    if (response.req.complete || keepsConnection) response.end(this.#body)
    else endAfterBody(response, this.#body)
  }
}

/** Bytes of an unread body that are dropped before the connection is closed. */
const DROPPED_BYTES = 8 * 1024 * 1024
/** Milliseconds without a byte of it after which the connection is closed. */
const SILENT_MS = 1_000
/** Checks for silence after which the connection is closed in any case. */
const MOST_CHECKS = 5

/**
 * Sends a response at once, but ends it, which closes the connection, only after the request's body. A connection that is
 * closed while the client still sends is reset, and most clients then lose the response.
 */
function endAfterBody(response: ServerResponse, body: string | Uint8Array): void {
  const { req } = response
  response.write(body)
  // A response to HEAD has no body that would send its headers.
  response.flushHeaders()
  let dropped = 0
  let before = 0
  let checks = 0
  const end = () => {
    timers.clearInterval(timer)
    if (!response.writableEnded) response.end()
  }
  const timer = timers.setInterval(() => {
    checks += 1
    if (dropped === before || checks === MOST_CHECKS) end()
    before = dropped
  }, SILENT_MS)
  timer.unref()
  req.on('data', (chunk: Buffer) => {
    dropped += chunk.length
    if (dropped > DROPPED_BYTES) end()
  })
  req.once('end', end).once('close', end).resume()
}

/** Sends `100 Continue` when something starts to read the body, unless the response is known before (RFC 9110 section 10.1.1). */
export function continueWhenRead(request: IncomingMessage, response: ServerResponse): void {
  request.once('resume', () => {
    if (!response.headersSent) response.writeContinue()
  })
}
