import type { RequestListener, Server, IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { Server as TlsServer, TLSSocket } from 'node:tls'
import { listen as listhen } from 'listhen'
import { NodeRequest, sendNodeResponse } from 'srvx/node'
import { isLoopbackName } from '../model/url.ts'
import { PROBES } from '../model/simulator/request-entry.ts'
import { type App, ConnectionBroken } from './app.ts'
import type { IsAllowedHost } from './auth/host-check.ts'
import type { ConnectionLimits } from '../model/simulator/settings.ts'
import { answerRawErrors, lineOf, pathOfTarget, refusalOfHead, REQUEST_EVENTS } from './raw-errors.ts'
import { CompleteResponse } from './node-request.ts'
import { timers } from '../timers.ts'

interface ListenOptions {
  /** 0 for any free port. */
  port: number
  host: string
  https?: { cert: string; key: string } | undefined
  limits?: Partial<ConnectionLimits> | undefined
  /** Whether the server and its connections keep the process running. Default: `true`. */
  ref?: boolean | undefined
  /** Returns true for hosts that a request target may contain. */
  isAllowedHost: IsAllowedHost
  /** Receives a message for the user when a client fails its TLS handshake: one per reason. */
  onNotice?: ((notice: string) => void) | undefined
}

/**
 * Longer than clients and load balancers keep an idle connection. If the server closes first, it can break a request
 * that is being sent. Node's default of 5 s is shorter than most.
 */
const IDLE_MS = 65_000

const defaultLimits: ConnectionLimits = {
  firstRequestMs: IDLE_MS,
  headersMs: 10_000,
  requestMs: 30_000,
  connections: 2_000,
}

interface DrainTimes {
  /** Milliseconds without a request after which draining ends. */
  quietMs: number
  /** Milliseconds after which it ends in any case. */
  mostMs: number
}

interface OpenServer {
  /** `http://127.0.0.1:4100`, without a final slash. */
  url: string
  port: number
  /** Handles requests until none but probes arrives any more. */
  drain(times: DrainTimes): Promise<void>
  /** Refuses new connections, waits up to `graceMs` for requests in flight, then closes the rest. */
  close(graceMs: number): Promise<void>
}

/** The requested port is not available. */
export class PortUnavailable extends Error {
  override readonly name = 'PortUnavailable'
}

/** Listens on a port. @throws PortUnavailable instead of taking another one. */
export async function openServer(app: App, options: ListenOptions): Promise<OpenServer> {
  const handler = nodeHandler(app, options.isAllowedHost)
  const listener = await bind(handler, options)
  const server = listener.server as Server
  if (options.ref === false) release(server)
  const limits = { ...defaultLimits, ...options.limits }
  server.headersTimeout = limits.headersMs
  server.requestTimeout = limits.requestMs
  const endIdle = limitConnections(server, limits.connections)
  server.keepAliveTimeout = IDLE_MS
  setRequestCheckInterval(server, Math.min(CHECK_MS, limits.headersMs, limits.requestMs))
  if (server instanceof TlsServer) {
    limitHandshakes(server, limits.headersMs)
    explainFailedHandshakes(server, options.onNotice)
  }
  answerRawErrors(server, handler, app, limits)
  const { port } = listener.address
  const name = options.host.includes(':') ? `[${options.host}]` : options.host
  return {
    url: `${options.https ? 'https' : 'http'}://${name}:${port}`,
    port,
    drain: (times) => drain(server, times),
    async close(graceMs) {
      const cut = timers.setTimeout(() => server.closeAllConnections(), graceMs)
      // Not listhen's close: with HTTPS, it also cuts connections with a request in flight. Node's close cuts responses that
      // have ended, but are not sent yet.
      server.closeIdleConnections = () => {}
      const closed = new Promise<void>((resolve) => server.close(() => resolve()))
      endIdle()
      await closed
      timers.clearTimeout(cut)
    },
  }
}

/**
 * Closing the port would reset connections that a load balancer has made, but whose first request has not been read. The
 * load balancer cannot know whether such a request was handled, and may not send it again.
 */
async function drain(server: Server, { quietMs, mostMs }: DrainTimes): Promise<void> {
  let arrived = 0
  const count = ({ url = '' }: IncomingMessage) => {
    if (!PROBES.has(url.split('?')[0] ?? '')) arrived += 1
  }
  for (const event of REQUEST_EVENTS) server.on(event, count)
  let before = -1
  for (let left = mostMs; left > 0 && before < arrived; left -= quietMs) {
    before = arrived
    await timers.sleep(Math.min(quietMs, left))
    // On a busy machine, the time is over before the requests that came meanwhile are read.
    for (let pass = 0; pass < PASSES; pass += 1) await timers.nextTurn()
  }
  for (const event of REQUEST_EVENTS) server.off(event, count)
}

/** Passes of the event loop that accepting a connection and reading its request take. */
const PASSES = 4

/** Lets the process end while the server listens and while its connections are open. */
function release(server: Server): void {
  server.unref()
  const unref = (socket: Socket) => void socket.unref()
  server.on('connection', unref).on('secureConnection', unref)
}

/** Opens and closes a port as {@link openServer} does. @throws PortUnavailable */
export async function tryPort(where: Pick<ListenOptions, 'host' | 'port'>): Promise<void> {
  const listener = await bind((_request, response) => void response.destroy(), where)
  await listener.close()
}

/** Returns the app as a request listener of Node's server. */
function nodeHandler({ fetch, refuse }: App, isAllowedHost: IsAllowedHost): RequestListener {
  const answer: (...[req, res]: Parameters<RequestListener>) => Promise<void> = async (req, res) => {
    const refusal = refusalOfHead(req, isAllowedHost)
    if (refusal !== undefined) {
      const { status, headers, body } = refuse(refusal, lineOf(req))
      return new CompleteResponse(body, status, headers).sendTo(res)
    }
    req.url = pathOfTarget(req.url ?? '')
    const response = await fetch(new NodeRequest({ req, res }))
    if (response instanceof CompleteResponse) response.sendTo(res)
    else await sendNodeResponse(res, response)
  }
  return (req, res) =>
    void answer(req, res).catch((error: unknown) => {
      // TLS sockets cannot be reset, so the connection is closed.
      if (error instanceof ConnectionBroken && !(req.socket instanceof TLSSocket))
        req.socket.resetAndDestroy()
      // A response that fails in the middle must not look complete.
      else res.destroy()
    })
}

/** Milliseconds between two checks for slow requests. */
const CHECK_MS = 1_000

/** Restarts Node's checks for slow requests with another interval. Node accepts one only at creation, which listhen does. */
function setRequestCheckInterval(server: Server, everyMs: number): void {
  Object.assign(server, { connectionsCheckingInterval: everyMs })
  server.emit('listening')
}

/** Passes every option to listhen, which otherwise reads the environment and falls back to another port. */
async function bind(
  handler: RequestListener,
  { port, host, https }: Pick<ListenOptions, 'port' | 'host' | 'https'>,
) {
  const listener = await listhen(handler, {
    port,
    hostname: host,
    https: https ?? false,
    public: !isLoopbackName(host),
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

function unavailable(port: number, host: string, cause: unknown): PortUnavailable {
  // Any free port was wanted, so it must be the host.
  if (port === 0)
    return new PortUnavailable(
      `Cannot listen on ${host}: it is not an address of this machine. Correct --host.`,
      { cause },
    )
  return new PortUnavailable(
    `Cannot listen on port ${port} of ${host}: it is in use, reserved (browsers refuse ports such as 6000), or not an address of this machine. Choose another with --port (0 = any free port).`,
    { cause },
  )
}

interface Connection {
  socket: Socket
  /** Address of the peer without port. */
  peer: string
  /** Number of requests in progress. */
  requests: number
}

/**
 * Limits a server to `most` connections. A further connection replaces an idle one: the one idle longest of the peer with
 * the most connections. So a peer that opens many connections does not shut others out. The further connection is closed
 * when every other one has a request in progress. Returns a function that closes the idle connections, and each other one
 * after its response.
 */
function limitConnections(server: Server, most: number): () => void {
  /** Connections by the ports of both ends, which a TLS socket shares with its TCP socket; longest idle first. */
  const open = new Map<string, Connection>()
  let isEnding = false

  const makeRoom = (newest: Connection) => {
    const counts = new Map<string, number>()
    for (const { peer } of open.values()) counts.set(peer, (counts.get(peer) ?? 0) + 1)
    const idle = [...open.values()].filter((one) => one.requests === 0 && one !== newest)
    const largest = Math.max(...counts.values())
    const victim = idle.find(({ peer }) => counts.get(peer) === largest) ?? idle[0] ?? newest
    victim.socket.destroy()
  }
  server.on('connection', (socket: Socket) => {
    const key = connectionKey(socket)
    const connection = { socket, peer: socket.remoteAddress ?? '', requests: 0 }
    open.set(key, connection)
    socket.once('close', () => {
      if (open.get(key) === connection) open.delete(key)
    })
    if (open.size > most) makeRoom(connection)
  })
  const begin = (request: IncomingMessage, response: ServerResponse) => {
    const key = connectionKey(request.socket)
    const connection = open.get(key)
    if (connection === undefined) return
    connection.requests += 1
    response.once('close', () => {
      connection.requests -= 1
      if (isEnding && connection.requests === 0) connection.socket.destroy()
      // Inserted again at the end: the connection becomes idle now.
      if (open.delete(key)) open.set(key, connection)
    })
  }
  for (const event of REQUEST_EVENTS) server.on(event, begin)
  return () => {
    isEnding = true
    for (const { socket, requests } of open.values()) if (requests === 0) socket.destroy()
  }
}

/** Closes connections without a TLS handshake within `ms` milliseconds. Node waits for two minutes. */
function limitHandshakes(server: Server, ms: number): void {
  const waiting = new Map<string, NodeJS.Timeout>()
  const done = (socket: Socket) => {
    timers.clearTimeout(waiting.get(connectionKey(socket)))
    waiting.delete(connectionKey(socket))
  }
  server.on('secureConnection', done)
  server.on('connection', (socket: Socket) => {
    const key = connectionKey(socket)
    waiting.set(key, timers.setTimeout(() => socket.destroy(), ms).unref())
    socket.once('close', () => {
      timers.clearTimeout(waiting.get(key))
      waiting.delete(key)
    })
  })
}

/** Reasons of failed handshakes that a user can correct, by the end of Node's error code. */
const HANDSHAKE_NOTICES: readonly (readonly [RegExp, string])[] = [
  [
    /_ALERT_(?:UNKNOWN_CA|BAD_CERTIFICATE|CERTIFICATE_UNKNOWN)$/,
    'A client rejected the certificate of this service. Make the client trust ca/ca.pem of the data directory (in `exec`: the file of TABWIRE_CACERT). Run `tabwire help webhooks` to see how.',
  ],
  [/_HTTP_REQUEST$/, 'A client sent plain HTTP to the HTTPS port. Use the https:// URL.'],
]

function explainFailedHandshakes(server: Server, onNotice: ListenOptions['onNotice']): void {
  const told = new Set<string>()
  server.on('tlsClientError', ({ code = '' }: NodeJS.ErrnoException) => {
    const [, notice] = HANDSHAKE_NOTICES.find(([codes]) => codes.test(code)) ?? []
    if (notice === undefined || told.has(notice)) return
    told.add(notice)
    onNotice?.(notice)
  })
}

function connectionKey({ remoteAddress, remotePort, localPort }: Socket): string {
  return `${remoteAddress} ${remotePort} ${localPort}`
}
