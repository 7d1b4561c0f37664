import type { Dispatcher } from 'undici'
import type { AttemptResult, HttpHeader } from '../../model/delivery.ts'
import type { Connection, Connections } from './connections.ts'
import { timers } from '../../timers.ts'
import { memoize } from '../destination/url.ts'
import { NotOwner } from '../slots.ts'

/** One HTTP request of a delivery. */
export interface DeliveryMessage {
  url: string
  headers: Readonly<Record<string, string>>
  /** Sent as its UTF-8 bytes. */
  body: string
}

/** Returns the origin of a URL (scheme, host and port), and its path with the query. */
export const targetOf = memoize((text) => {
  const url = new URL(text)
  return { origin: url.origin, path: url.pathname + url.search }
})

/** The response of a receiver, over the network or in this process. */
export interface ReceiverResponse {
  status: number
  location: string | undefined
  headers: ResponseHeaders
  /** The first 4 KiB of the body. */
  body: string
  /** When the headers arrived, by `measure`. */
  respondedAt: number
}

export interface ExchangeSettings {
  /** Milliseconds until the response headers must arrive. */
  timeoutMs: number
  /** Milliseconds until the kept part of the body must arrive; then it is cut off. */
  bodyTimeoutMs: number
  /** Returns the current time in milliseconds, for durations. */
  measure: () => number
  /** Called when a request is about to be written; false keeps it from being sent. */
  mayBegin: (() => boolean) | undefined
  /** Called when the headers arrive, with a function that cuts off the body; the result is called when the body is read. */
  onHeaders: (cut: () => void) => () => void
}

/**
 * Sends a request and resolves with its response; rejects when none comes in time, or with the reason of `signal`. When a
 * reused connection closes before the first byte of a response, sends the request once more on a new connection (contract
 * section 9). Uses undici's `dispatch`, because the streams and signals of `request` cost more than sending.
 */
export function httpExchange(
  connections: Connections,
  { url, headers, body }: DeliveryMessage,
  settings: ExchangeSettings,
  signal: AbortSignal | undefined,
): Promise<ReceiverResponse> {
  const { origin, path } = targetOf(url)
  return new Promise((resolve, reject) => {
    let controller: Dispatcher.DispatchController | undefined
    let response: Omit<ReceiverResponse, 'body'> | undefined
    let abortReason: Error | undefined
    let onBodyRead: (() => void) | undefined
    const read = startOfBody()
    const abort = () => giveUp(signal?.reason as Error)
    let cancel = setDeadline(
      () =>
        giveUp(
          controller === undefined ? new ConnectTimeout() : new AttemptTimeout('no response headers in time'),
        ),
      settings.timeoutMs,
    )
    signal?.addEventListener('abort', abort, { once: true })

    /** Settles the promise; later events are ignored. */
    function end(error?: Error): void {
      cancel()
      signal?.removeEventListener('abort', abort)
      onBodyRead?.()
      if (response === undefined) reject(error ?? new Error('The receiver sent no response'))
      // Not `{ ...response }`, which costs a microsecond on Node 20.
      else resolve(Object.assign(response, { body: read.text(error === undefined) }))
    }
    /** Ends the request; a request that is not connected yet is aborted when it is. */
    function giveUp(reason: Error): void {
      if (abortReason !== undefined) return
      abortReason = reason
      controller?.abort(reason)
      end(reason)
    }

    function send(over: Connection): void {
      let begun = false
      controller = undefined
      over.dispatch(
        { origin, path, method: 'POST', headers, body },
        {
          onRequestStart(started) {
            controller = started
            over.begin()
            begun = true
            if (abortReason !== undefined) started.abort(abortReason)
            // A process that was suspended while the connection opened may have lost its lease.
            else if (settings.mayBegin?.() === false) giveUp(new NotOwner())
          },
          onResponseStart({ rawHeaders }, status, { location }) {
            if (status < 200) return
            cancel()
            signal?.removeEventListener('abort', abort)
            response = {
              status,
              location: typeof location === 'string' ? location : undefined,
              headers: startOfHeaders(Array.isArray(rawHeaders) ? rawHeaders : []),
              respondedAt: settings.measure(),
            }
            cancel = setDeadline(
              () => giveUp(new Error('The body did not end in time')),
              settings.bodyTimeoutMs,
            )
            onBodyRead = settings.onHeaders(() =>
              giveUp(new Error('Too many bodies of this receiver are being read')),
            )
          },
          onResponseData(_controller, chunk) {
            if (read.add(chunk)) giveUp(new Error('The body is longer than the kept part'))
          },
          onResponseEnd() {
            over.release()
            if (abortReason === undefined) end()
          },
          onResponseError(_controller, error) {
            // undici also fails a queued request when its connection is reset before the request is written.
            const wasStale = over.isReused() && !(begun && over.hasReceived()) && isClosed(error)
            over.destroy()
            if (abortReason !== undefined) return
            if (wasStale) send(connections.open(origin))
            else end(error)
          },
        },
      )
    }

    send(connections.take(origin))
  })
}

/** No response headers arrived in time. */
export class AttemptTimeout extends Error {
  readonly code = 'TABWIRE_TIMEOUT'
}

/** The connection was not ready in time. */
export class ConnectTimeout extends Error {
  readonly code = 'TABWIRE_CONNECT_TIMEOUT'
}

/**
 * Calls `action` after `milliseconds`, but first reads what has arrived at sockets: when the timer fires late because the
 * process was suspended or busy, a response may have come in time. The result cancels the deadline.
 */
export function setDeadline(action: () => void, milliseconds: number): () => void {
  let turn: NodeJS.Immediate | undefined
  // Timers fire before sockets are read, immediates after that.
  const timer = timers.setTimeout(() => (turn = timers.setImmediate(action)), milliseconds)
  return () => {
    timers.clearTimeout(timer)
    timers.clearImmediate(turn)
  }
}

/** True when the receiver closed the connection. */
function isClosed(error: NodeJS.ErrnoException): boolean {
  return /^(ECONNRESET|EPIPE|ECONNABORTED|UND_ERR_SOCKET)$/.test(error.code ?? '')
}

/** Stored headers of a response (contract section 9). */
export type ResponseHeaders = Pick<Required<AttemptResult>, 'response_headers'> &
  Pick<AttemptResult, 'response_headers_cut'>

/** Limits of the stored headers of one response; characters are those of names and values, one per received byte. */
const KEPT_HEADERS = { headers: 100, characters: 4096 }

/**
 * Returns the start of the headers of a response, from a flat list of names and values. Bytes are read as latin1, as
 * browsers do. The value that passes the limit is cut, and the headers after it are left out.
 */
export function startOfHeaders(flat: readonly (Buffer | string)[]): ResponseHeaders {
  const response_headers: HttpHeader[] = []
  let left = KEPT_HEADERS.characters
  for (let at = 0; at < flat.length; at += 2) {
    const name = flat[at]?.toString('latin1') ?? ''
    const value = flat[at + 1]?.toString('latin1') ?? ''
    left -= name.length
    if (left < 0 || response_headers.length === KEPT_HEADERS.headers)
      return { response_headers, response_headers_cut: true }
    response_headers.push({ name, value: value.slice(0, left) })
    left -= value.length
    if (left < 0) return { response_headers, response_headers_cut: true }
  }
  return { response_headers }
}

/** Bytes of a response body that are kept (contract section 9). */
const KEPT_BYTES = 4096

/**
 * Collects the first 4 KiB of a response as text, with U+FFFD for invalid UTF-8. A body that is longer, hangs or breaks off
 * is cut, since the status has already decided the attempt.
 */
export function startOfBody() {
  const chunks: Buffer[] = []
  let size = 0
  return {
    /** Adds a chunk; returns true when the body is longer than what is kept. */
    add(chunk: Buffer): boolean {
      if (size <= KEPT_BYTES) chunks.push(chunk)
      size += chunk.length
      return size > KEPT_BYTES
    },
    /** Returns the text. `hasEnded` is false for a body that hangs or breaks off. */
    text: (hasEnded: boolean) =>
      size === 0 ? '' : decode(Buffer.concat(chunks), !hasEnded || size > KEPT_BYTES),
  }
}

/** Decodes a cut body without a partial last character, which a streaming decoder holds back. */
function decode(bytes: Buffer, cut: boolean): string {
  return new TextDecoder().decode(bytes.subarray(0, KEPT_BYTES), { stream: cut })
}

/**
 * Limits the bodies of one origin that are read at a time. Attempts leave the queue when their headers arrive, so a receiver
 * with slow bodies could otherwise keep any number open. Above the limit, the oldest body is cut.
 */
export function createBodyLimit(perOrigin: number) {
  const reading = new Map<string, Set<() => void>>()
  /** Adds a body, which `cut` ends; the result removes it. */
  return (origin: string, cut: () => void): (() => void) => {
    const bodies = reading.get(origin) ?? new Set()
    reading.set(origin, bodies.add(cut))
    const [oldest] = bodies
    if (bodies.size > perOrigin) oldest?.()
    return () => {
      bodies.delete(cut)
      if (bodies.size === 0 && reading.get(origin) === bodies) reading.delete(origin)
    }
  }
}
