import type { RequestListener, Server, ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import { Server as TlsServer } from 'node:tls'
import type { NewId } from '../operations/operation.ts'
import { errorBody } from './refusals.ts'
import { tell } from './told-answer.ts'

/**
 * Sees to it that whatever Node would answer by itself, or close without a word, is answered by us: every answer carries
 * X-Request-Id (specification section 1).
 */
export function answerOddRequests(
  server: Server,
  handler: RequestListener,
  newId: NewId,
  { firstRequestMs }: { firstRequestMs: number },
): void {
  const current = new WeakMap<Duplex, ServerResponse>()
  const refuse = (socket: Duplex, code: string) => {
    // In the middle of another answer there is no place for this one.
    const busy = current.get(socket)
    if (!socket.writable || (busy?.headersSent === true && !busy.writableFinished)) socket.destroy()
    else socket.end(refusalOf(code, newId('req')))
  }
  /** What has arrived is read first: a service that was kept from reading it blames nobody. */
  const refuseIfLate = (socket: Duplex) => {
    const before = current.get(socket)
    const wasAnswered = before?.writableEnded === true
    setImmediate(() => {
      const now = current.get(socket)
      const isWhole = now?.req.complete === true && (now !== before || !wasAnswered)
      if (!isWhole) refuse(socket, LATE)
    })
  }
  // Without a Host header Node answers 400 alone; our own check does it with an id.
  Object.assign(server, { requireHostHeader: false })
  server.on('request', (request, response) => current.set(request.socket, response))
  server.on('checkExpectation', handler)
  server.on('connect', (_request, socket) => refuse(socket, 'CONNECT'))
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    if (error.code === 'ECONNRESET') socket.destroy()
    else if (error.code === LATE) refuseIfLate(socket)
    else refuse(socket, error.code ?? '')
  })
  // Node looks for requests that are slow to begin every 30 seconds only.
  const watch = (socket: Duplex) => {
    const timer = setTimeout(() => {
      if (!current.has(socket)) refuseIfLate(socket)
    }, firstRequestMs)
    timer.unref()
    socket.once('close', () => clearTimeout(timer))
  }
  server.on(server instanceof TlsServer ? 'secureConnection' : 'connection', watch)
}

/** Node's code for a request that did not arrive in time. */
const LATE = 'ERR_HTTP_REQUEST_TIMEOUT'

const parserRefusals: Record<string, [status: string, code: string, message: string]> = {
  HPE_HEADER_OVERFLOW: [
    '431 Request Header Fields Too Large',
    'headers_too_large',
    'The request headers are longer than 16 KiB, the most that is accepted.',
  ],
  [LATE]: ['408 Request Timeout', 'request_timeout', 'The request did not arrive in time.'],
}

function refusalOf(code: string, requestId: string): string {
  const otherwise = ['400 Bad Request', 'invalid_request', 'The request is not valid HTTP/1.1.'] as const
  const [status, name, message] = parserRefusals[code] ?? otherwise
  const body = errorBody(name, message, requestId)
  const headers = {
    'X-Request-Id': requestId,
    'Content-Type': 'application/json; charset=utf-8',
    'Content-Length': String(Buffer.byteLength(body)),
    Connection: 'close',
  }
  tell(() => ({ request: null, status: Number.parseInt(status), headers, body }))
  const lines = Object.entries(headers).map(([header, value]) => `${header}: ${value}`)
  return `HTTP/1.1 ${status}\r\n${lines.join('\r\n')}\r\n\r\n${body}`
}
