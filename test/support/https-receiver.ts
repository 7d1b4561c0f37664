import * as http from 'node:http'
import * as https from 'node:https'
import type { AddressInfo, Socket } from 'node:net'
import { atEnd } from './at-end.ts'

/** A request as it arrived. */
export interface Received {
  method: string
  url: string
  headers: http.IncomingHttpHeaders
  rawHeaders: readonly string[]
  body: Buffer
}

/** Response to a request: a status; a list of statuses, whose last one stays; none; a reset; or that of a function. */
export type Answer = number | readonly number[] | 'hang' | 'reset' | { redirect: string } | Handle
export type Handle = (response: http.ServerResponse, received: Received, index: number) => void

export interface Receiver {
  /** `https://127.0.0.1:<port>/` or `http://…`. */
  url: string
  port: number
  requests: Received[]
  /** Resolves once `n` requests have arrived completely since the start. */
  received(n: number): Promise<readonly Received[]>
  /** Changes the answer to requests that come from now on. */
  answer(answer: Answer): void
  /** How many connections are open. */
  connections(): number
  /** How many connections have been made since the start. */
  connected(): number
  close(): Promise<void>
}

interface ReceiverOptions {
  tls?: { cert: string; key: string }
  answer?: Answer
}

/** Closes each receiver that is still open. */
const open = new Set<() => Promise<void>>()
atEnd(async () => {
  await Promise.all([...open].map((close) => close()))
})

/** A real server on a free port of 127.0.0.1 that keeps what it receives. Without `tls` it speaks plain HTTP. */
export async function startReceiver({ tls, answer = 200 }: ReceiverOptions = {}): Promise<Receiver> {
  const requests: Received[] = []
  const waiting = new Set<() => void>()
  const sockets = new Set<Socket>()
  const resetConnection: Handle = (response) => {
    // A TLS socket cannot be reset, the connection below it can.
    const { remotePort } = response.req.socket
    for (const socket of sockets) if (socket.remotePort === remotePort) socket.resetAndDestroy()
  }
  let handle = handlerOf(answer, resetConnection)
  let connected = 0

  const take = async (request: http.IncomingMessage, response: http.ServerResponse) => {
    const received = await read(request)
    if (received === undefined) return
    const index = requests.push(received) - 1
    handle(response, received, index)
    for (const check of waiting) check()
  }
  const listener: http.RequestListener = (request, response) => void take(request, response)
  const server = tls === undefined ? http.createServer(listener) : https.createServer(tls, listener)
  server.on('connection', (socket: Socket) => {
    connected += 1
    sockets.add(socket)
    socket.on('error', () => undefined).once('close', () => sockets.delete(socket))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo

  const close = () =>
    new Promise<void>((resolve) => {
      open.delete(close)
      server.close(() => resolve())
      for (const socket of sockets) socket.destroy()
    })
  open.add(close)
  return {
    url: `${tls === undefined ? 'http' : 'https'}://127.0.0.1:${port}/`,
    port,
    requests,
    received: (n) =>
      new Promise((resolve) => {
        const check = () => {
          if (requests.length < n) return
          waiting.delete(check)
          resolve(requests)
        }
        waiting.add(check)
        check()
      }),
    answer(next) {
      handle = handlerOf(next, resetConnection)
    },
    connections: () => sockets.size,
    connected: () => connected,
    close,
  }
}

async function read(request: http.IncomingMessage): Promise<Received | undefined> {
  const chunks: Buffer[] = []
  try {
    for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk)
  } catch {
    return undefined // broke off before it was complete
  }
  const { method = '', url = '', headers, rawHeaders } = request
  return { method, url, headers, rawHeaders, body: Buffer.concat(chunks) }
}

function handlerOf(answer: Answer, resetConnection: Handle): Handle {
  if (typeof answer === 'function') return answer
  if (answer === 'hang') return () => undefined
  if (answer === 'reset') return resetConnection
  if (typeof answer === 'number') return status(answer)
  if ('redirect' in answer) return (response) => response.writeHead(301, { Location: answer.redirect }).end()
  let turn = 0
  return (response) => status(answer[Math.min(turn++, answer.length - 1)] ?? 200)(response)
}

function status(code: number): (response: http.ServerResponse) => void {
  return (response) => response.writeHead(code).end()
}
