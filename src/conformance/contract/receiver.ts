import { randomUUID } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer, request } from 'node:https'
import type { AddressInfo, Socket } from 'node:net'
import type { TLSSocket } from 'node:tls'
import { signatureHeader } from '../../model/text/service-name.ts'
import { hexDigest } from '../../signature/sign.ts'
import { parseJson } from './ask.ts'
import { at } from './shape.ts'

/** A delivery as it arrived. */
export interface Arrival {
  method: string
  /** The path and query of the request. */
  target: string
  headers: IncomingMessage['headers']
  /** The raw body. */
  body: Buffer
  /** When it arrived, in milliseconds. */
  at: number
}

/** A path of the receiver that belongs to one endpoint. */
export interface Hook {
  url: string
  arrivals: Arrival[]
  /** Resolves with the first result of `look` that is not undefined, or with undefined after `ms`. */
  until<T>(look: (arrivals: readonly Arrival[]) => T | undefined, ms?: number): Promise<T | undefined>
  /**
   * Status and delay, in milliseconds, of the answers from now on; 204 at once unless said otherwise. With `null`, the
   * connection ends without an answer.
   */
  answer(status: number | null, delayMs?: number): void
}

export interface Receiver {
  open(): Hook
  /** The address that the service was given, without a path. */
  url: string
  /** True when the service is known to reach the address. */
  isPublic: boolean
  /** Number of deliveries that have arrived at all hooks. */
  arrived(): number
  /**
   * Number of deliveries that were not kept, since one was larger than `MOST_BYTES`, or all more than `MOST_KEPT` or
   * `MOST_COUNT`.
   */
  dropped(): number
  /** Paths of signed requests that belong to no hook, such as `POST /`: the sender does not use the registered URL. */
  strays(): readonly string[]
  /** Number of connections that ended during the TLS handshake, as when a sender does not trust the certificate. */
  distrusted(): number
  /** Returns true when a request to the public URL arrives here. */
  leadsHere(): Promise<boolean>
  close(): Promise<void>
}

interface ReceiverOptions {
  /** For 127.0.0.1 and localhost, as PEM. */
  tls: { cert: string; key: string }
  /** Under which the service reaches this receiver; by default its own address on 127.0.0.1. */
  publicUrl?: string | undefined
  /** 0 takes any free port. */
  port: number
  /** Time limit for a delivery, in milliseconds. */
  eventMs: number
}

/** End of the URL to which a hook redirects. */
const ELSEWHERE = '-elsewhere'

/** Time limit for the test of the public URL, in milliseconds. */
const SELF_TEST_MS = 5_000

/** The most bytes of a delivery, and of all deliveries that are kept. */
const MOST_BYTES = 4 * 1024 * 1024
const MOST_KEPT = 128 * 1024 * 1024
/** The most deliveries that are kept; a check causes some hundred. */
const MOST_COUNT = 5_000

/** Time after which a wait for a sender that does not trust the certificate ends, in milliseconds. */
const DISTRUST_MS = 3_000

/** The most paths of strays that are kept. */
const MOST_STRAYS = 3

/** Names of signature headers, in lower case. */
const SIGNATURE = /^x-.+-signature$/

/** Opens an HTTPS receiver on 127.0.0.1 that keeps whatever arrives. @throws Error when it cannot listen at the port. */
export async function openReceiver({ tls, publicUrl, port, eventMs }: ReceiverOptions): Promise<Receiver> {
  const closed = new AbortController()
  const hooks = new Map<string, (arrival: Arrival, response: ServerResponse) => void>()
  /** Answers requests to paths of this receiver that are no deliveries. */
  const others = new Map<string, (response: ServerResponse) => void>()
  let opened = 0
  let distrusted = 0
  let arrived = 0
  let dropped = 0
  let kept = 0
  const strays = new Set<string>()
  const server = createServer(tls, (incoming, response) => {
    const chunks: Buffer[] = []
    let size = 0
    incoming
      .on('error', () => undefined)
      .on('data', (chunk: Buffer) => {
        size += chunk.length
        if (size > MOST_BYTES) {
          if (!incoming.destroyed) dropped += 1
          incoming.destroy()
        } else chunks.push(chunk)
      })
    incoming.on('end', () => {
      const name = /[^/?]*(?=$|\?)/.exec(incoming.url ?? '')?.[0] ?? ''
      const answerOther = others.get(name)
      if (answerOther !== undefined) return answerOther(response)
      const take = hooks.get(name)
      const { method = '', url: target = '', headers } = incoming
      if (take === undefined) {
        const isSigned = Object.keys(headers).some((name) => SIGNATURE.test(name))
        if (isSigned && strays.size < MOST_STRAYS) strays.add(`${method} ${target}`)
        return response.writeHead(404).end()
      }
      arrived += 1
      kept += size
      if (kept > MOST_KEPT || arrived > MOST_COUNT) {
        dropped += 1
        return response.writeHead(413).end()
      }
      return take({ method, target, headers, body: Buffer.concat(chunks), at: Date.now() }, response)
    })
  })
  // Longer than a service leaves a connection idle between two deliveries, so that none is closed during a request.
  server.keepAliveTimeout = 65_000
  server.on('tlsClientError', () => (distrusted += 1))
  // With TLS 1.3, a sender that does not trust the certificate closes the connection after the handshake.
  const used = new WeakSet<object>()
  server.on('request', ({ socket }: IncomingMessage) => used.add(socket))
  server.on('secureConnection', (socket: TLSSocket) => {
    socket.once('close', () => {
      if (!used.has(socket)) distrusted += 1
    })
  })
  // The server does not know connections within their TLS handshake, which would keep it from closing.
  const connections = new Set<Socket>()
  server.on('connection', (socket: Socket) => {
    connections.add(socket)
    socket.once('close', () => connections.delete(socket))
  })
  await new Promise<void>((resolve, reject) =>
    server
      .once('error', ({ code }: NodeJS.ErrnoException) => reject(new Error(unusable(port, code))))
      .listen(port, '127.0.0.1', resolve),
  )
  const own = `https://127.0.0.1:${(server.address() as AddressInfo).port}`
  const url = (publicUrl ?? own).replace(/\/+$/, '')
  const isDistrusted = () => arrived === 0 && distrusted > 0
  const open = () => {
    opened += 1
    // Paths distinguish upper and lower case.
    const name = `Hook-${opened}`
    const { hook, take } = createHook(`${url}/${name}`, eventMs, closed.signal, isDistrusted)
    hooks.set(name, take)
    // A sender that follows a redirect would take this for the success of its delivery.
    others.set(name + ELSEWHERE, (response) => void response.writeHead(204).end())
    return hook
  }
  return {
    open,
    url,
    isPublic: publicUrl !== undefined,
    arrived: () => arrived,
    distrusted: () => distrusted,
    dropped: () => dropped,
    strays: () => [...strays],
    async leadsHere() {
      const name = `self-test-${randomUUID()}`
      let isHere = false
      others.set(name, (response) => {
        isHere = true
        response.writeHead(204).end()
      })
      await post(`${url}/${name}`)
      others.delete(name)
      return isHere
    },
    close: () =>
      new Promise((resolve) => {
        closed.abort()
        server.close(() => resolve())
        server.closeAllConnections()
        for (const socket of connections) socket.destroy()
      }),
  }
}

/** Sends an empty POST and waits for an answer of any status. Accepts any certificate. */
function post(url: string): Promise<void> {
  return new Promise((resolve) => {
    const call = request(url, {
      method: 'POST',
      rejectUnauthorized: false,
      timeout: SELF_TEST_MS,
      agent: false,
    })
    call.on('response', (response) =>
      response
        .resume()
        .on('close', resolve)
        .on('error', () => resolve()),
    )
    call.on('timeout', () => call.destroy()).on('error', () => resolve())
    call.end()
  })
}

function unusable(port: number, code = ''): string {
  const why = code === 'EADDRINUSE' ? 'is already in use' : `cannot be used (${code})`
  return `--receiver-port ${port} ${why}. Choose another port, or omit the flag for any free port.`
}

/**
 * Creates a hook. Waits end, without a result, when `closed` aborts: after Ctrl-C, a case may still wait. They end early for a
 * sender that does not trust the certificate.
 */
function createHook(url: string, eventMs: number, closed: AbortSignal, isDistrusted: () => boolean) {
  const arrivals: Arrival[] = []
  const waiting = new Set<() => void>()
  let answer: { status: number | null; delayMs: number } = { status: 204, delayMs: 0 }
  const hook: Hook = {
    url,
    arrivals,
    until: (look, ms = eventMs) =>
      new Promise((resolve) => {
        const end = (result: ReturnType<typeof look>) => {
          clearTimeout(timer)
          clearTimeout(early)
          waiting.delete(check)
          closed.removeEventListener('abort', giveUp)
          resolve(result)
        }
        const giveUp = () => end(undefined)
        const check = () => {
          const found = look(arrivals)
          if (found !== undefined) end(found)
        }
        const timer = setTimeout(giveUp, closed.aborted ? 0 : ms)
        const early = setTimeout(() => isDistrusted() && giveUp(), DISTRUST_MS)
        closed.addEventListener('abort', giveUp)
        waiting.add(check)
        check()
      }),
    answer(status, delayMs = 0) {
      answer = { status, delayMs }
    },
  }
  const take = (arrival: Arrival, response: ServerResponse) => {
    const { status, delayMs } = answer
    const headers = status === 302 ? { location: url + ELSEWHERE } : {}
    const reply = () => {
      if (status === null) response.destroy()
      else response.writeHead(status, headers).end()
    }
    if (delayMs === 0) reply()
    else {
      const timer = setTimeout(reply, delayMs)
      response.on('close', () => clearTimeout(timer))
    }
    arrivals.push(arrival)
    for (const check of waiting) check()
  }
  return { hook, take }
}

const parsed = new WeakMap<Buffer, { json: unknown }>()

/** Returns the body as JSON; `undefined` when it is not JSON. Parses each body once. */
export function envelopeOf({ body }: Arrival): unknown {
  const known = parsed.get(body) ?? { json: parseJson(body.toString()) }
  parsed.set(body, known)
  return known.json
}

/** Returns the envelope's id, which the deliveries of one event share. */
export function eventIdOf(arrival: Arrival): unknown {
  return at(envelopeOf(arrival), 'id')
}

export function eventTypeOf(arrival: Arrival): unknown {
  return at(envelopeOf(arrival), 'type')
}

/** Counts the events that have arrived: duplicates share their id. */
export function eventCount(arrivals: readonly Arrival[]): number {
  return new Set(arrivals.map(eventIdOf)).size
}

interface SignatureHeader {
  /** `x-acme-signature`; `undefined` when there is none. */
  name: string | undefined
  value: string
  /** Empty when the header has none; the same goes for `v1`. */
  t: string
  v1: string
}

/**
 * The signature header: `X-<service name>-Signature`, or, where the name is not known, the header of that form. The
 * specification shows the form, not the name.
 */
export function signatureOf({ headers }: Arrival, serviceName: string | undefined): SignatureHeader {
  const found = Object.keys(headers).filter((name) =>
    serviceName === undefined ? SIGNATURE.test(name) : name === signatureHeader(serviceName).toLowerCase(),
  )
  const name = found.find((one) => /\bt=/.test(String(headers[one]))) ?? found[0]
  const value = name === undefined ? '' : String(headers[name])
  return { name, value, t: /\bt=(\d+)/.exec(value)?.[1] ?? '', v1: /\bv1=([^,\s]+)/.exec(value)?.[1] ?? '' }
}

/** Returns true when the signature is that of `t` and the raw body with one of the secrets, whatever the case of its digits. */
export function isGenuine(
  arrival: Arrival,
  secrets: readonly string[],
  serviceName: string | undefined,
): boolean {
  const { t, v1 } = signatureOf(arrival, serviceName)
  return secrets.some((secret) => hexDigest(secret, t, arrival.body) === v1.toLowerCase())
}

/** Returns the distance between `t` and the time of arrival, in seconds; `NaN` without a `t`. */
export function lagOf(arrival: Arrival, serviceName: string | undefined): number {
  const { t } = signatureOf(arrival, serviceName)
  return t === '' ? Number.NaN : Math.abs(Number(t) - arrival.at / 1000)
}
