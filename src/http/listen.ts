import type { Server } from 'node:http'
import type { Socket } from 'node:net'
import { toNodeHandler } from 'h3/node'
import type { H3 } from 'h3'
import { listen as listhen } from 'listhen'
import type { NewId } from '../operations/operation.ts'
import type { App } from './app.ts'
import { errorBody } from './refusals.ts'

export interface ListenOptions {
  /** 0 takes any free port. */
  port: number
  host: string
  https?: { cert: string; key: string } | undefined
}

export interface Door {
  /** `http://127.0.0.1:4100`, without a final slash. */
  url: string
  port: number
  /** Takes nothing new, lets requests in flight finish for up to `graceMs`, then cuts the rest off. */
  close(graceMs: number): Promise<void>
}

/** The port that was asked for cannot be had. */
export class PortUnavailable extends Error {
  override readonly name = 'PortUnavailable'
}

/** Opens the door on a real port. @throws PortUnavailable instead of taking another one. */
export async function openDoor(app: App, newId: NewId, options: ListenOptions): Promise<Door> {
  const { fetch } = app
  const handler = toNodeHandler({ fetch } as unknown as H3)
  const listener = await bind(handler, options)
  const server = listener.server as Server
  answerOddRequests(server, handler, newId)
  const { port } = listener.address
  const name = options.host.includes(':') ? `[${options.host}]` : options.host
  return {
    url: `${options.https ? 'https' : 'http'}://${name}:${port}`,
    port,
    async close(graceMs) {
      const cut = setTimeout(() => server.closeAllConnections(), graceMs)
      await listener.close()
      clearTimeout(cut)
    },
  }
}

type NodeHandler = ReturnType<typeof toNodeHandler>

/** listhen reads the environment and takes another port when one is busy, so every choice is made here. */
async function bind(handler: NodeHandler, { port, host, https }: ListenOptions) {
  const listener = await listhen((request, response) => void handler(request as never, response as never), {
    port,
    hostname: host,
    https: https ?? false,
    public: !isLoopbackHost(host),
    isProd: port !== 0,
    isTest: true,
    showURL: false,
    open: false,
    clipboard: false,
    tunnel: false,
    qr: false,
    autoClose: false,
  }).catch((error: unknown) => {
    throw unavailable(port, host, error)
  })
  if (port === 0 || listener.address.port === port) return listener
  await listener.close()
  throw unavailable(port, host, undefined)
}

function isLoopbackHost(host: string): boolean {
  return host === 'localhost' || host === '::1' || host.startsWith('127.')
}

function unavailable(port: number, host: string, cause: unknown): PortUnavailable {
  return new PortUnavailable(
    `Port ${port} on ${host} cannot be listened on: it is in use, reserved, or not of this machine. Choose another with --port (0 takes any free one).`,
    { cause },
  )
}

/** Whatever Node would answer by itself is answered by us, since every answer carries X-Request-Id (specification section 1). */
function answerOddRequests(server: Server, handler: NodeHandler, newId: NewId): void {
  // Without a Host header Node answers 400 alone; our own check does it with an id.
  Object.assign(server, { requireHostHeader: false })
  server.on('checkExpectation', (request, response) => void handler(request, response))
  server.on('connect', (_request, socket) => socket.end(refusalOf('', newId('req'))))
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => {
    if (error.code === 'ECONNRESET' || !socket.writable) return socket.destroy()
    return socket.end(refusalOf(error.code ?? '', newId('req')))
  })
}

const parserRefusals: Record<string, [status: string, code: string, message: string]> = {
  HPE_HEADER_OVERFLOW: [
    '431 Request Header Fields Too Large',
    'headers_too_large',
    'The request headers are too large.',
  ],
  ERR_HTTP_REQUEST_TIMEOUT: ['408 Request Timeout', 'request_timeout', 'The request did not arrive in time.'],
}

function refusalOf(code: string, requestId: string): string {
  const otherwise = ['400 Bad Request', 'invalid_request', 'The request is not valid HTTP/1.1.'] as const
  const [status, name, message] = parserRefusals[code] ?? otherwise
  const body = errorBody(name, message, requestId)
  const headers = [
    `X-Request-Id: ${requestId}`,
    'Content-Type: application/json; charset=utf-8',
    `Content-Length: ${Buffer.byteLength(body)}`,
    'Connection: close',
  ]
  return `HTTP/1.1 ${status}\r\n${headers.join('\r\n')}\r\n\r\n${body}`
}
