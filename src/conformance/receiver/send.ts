import { setMaxListeners } from 'node:events'
import * as http from 'node:http'
import * as https from 'node:https'
import { rootCertificates } from 'node:tls'

export type HeaderLine = readonly [name: string, value: string]

/** A request as a case wants it, genuine or not. */
export interface Delivery {
  headers: readonly HeaderLine[]
  body: Buffer
}

/** `code` is Node's, or `TIMEOUT`. */
export type Answer = { status: number; early: boolean } | { error: string; code: string }

export interface SendOptions {
  /** Before the last byte of the body, this long is waited for an answer, in milliseconds; such an answer is `early`. */
  holdBackMs?: number
  /** How long an answer is waited for, from the beginning, in milliseconds; by default as for all. */
  timeoutMs?: number
}
export type Send = (delivery: Delivery, options?: SendOptions) => Promise<Answer>

export interface Destination {
  url: URL
  /** Added to each request. */
  headers: readonly HeaderLine[]
  /** Authorities in PEM, beside Node's own. */
  ca: readonly string[]
  insecure: boolean
  timeoutMs: number
  /** Ends what is under way, and lets nothing begin. */
  signal: AbortSignal
}

/** Sends to a receiver: each request on a connection of its own, headers in the order and number given. */
export function createSend({
  url,
  headers: more,
  ca,
  insecure,
  timeoutMs: usualMs,
  signal,
}: Destination): Send {
  const encrypted = url.protocol === 'https:'
  const trust = encrypted ? { ca: [...rootCertificates, ...ca], rejectUnauthorized: !insecure } : {}
  const { request } = encrypted ? https : http
  // Each request that is under way listens, and twenty at once are no leak.
  setMaxListeners(0, signal)
  return ({ headers, body }, { holdBackMs, timeoutMs = usualMs } = {}) =>
    new Promise((resolve) => {
      const lines = [...frame(url, body), ...headers, ...more].flat()
      const call = request(url, { method: 'POST', headers: lines, agent: false, signal, ...trust })
      const late = setTimeout(() => end({ error: LATE(timeoutMs), code: 'TIMEOUT' }), timeoutMs)
      let complete = holdBackMs === undefined
      const end = (answer: Answer) => {
        clearTimeout(late)
        clearTimeout(held)
        resolve(answer)
        // The rest of an answer is read, so that no receiver sees a broken connection; one without an end is cut off.
        setTimeout(() => call.destroy(), 'status' in answer && !answer.early ? REST_MS : 0).unref()
      }
      call.on('response', (response) => {
        end({ status: response.statusCode ?? 0, early: !complete })
        response.resume()
      })
      call.on('error', (error) => end(failure(error)))
      const held = complete ? undefined : setTimeout(finish, holdBackMs)
      if (complete) call.end(body)
      else call.write(body.subarray(0, -1))

      function finish(): void {
        complete = true
        call.end(body.subarray(-1))
      }
    })
}

function frame({ host }: URL, body: Buffer): HeaderLine[] {
  return [
    ['Host', host],
    ['Content-Type', 'application/json'],
    ['Content-Length', String(body.length)],
    ['Connection', 'close'],
  ]
}

/** How long an answer may go on after its head, in milliseconds. */
const REST_MS = 1_000

const LATE = (timeoutMs: number) => `it did not answer within ${timeoutMs / 1000} s`

const words: Record<string, string> = {
  ECONNREFUSED: 'nothing listens there',
  ENOTFOUND: 'there is no such host',
  ECONNRESET: 'it closed the connection without an answer',
  EPIPE: 'it closed the connection without an answer',
  EPROTO: 'it does not speak TLS',
  ERR_TLS_CERT_ALTNAME_INVALID: 'its certificate is for another host',
}

function failure({ code = 'UNKNOWN', message }: NodeJS.ErrnoException): Answer {
  return { error: words[code] ?? message, code }
}
