import { setMaxListeners } from 'node:events'
import * as http from 'node:http'
import * as https from 'node:https'
import type { LookupFunction } from 'node:net'
import { trustedContext } from '../../certificates/trusted.ts'
import { connectionReason } from '../../model/text/advice.ts'

export type HeaderLine = readonly [name: string, value: string]

/** A request as a case wants it, genuine or not. */
export interface Delivery {
  headers: readonly HeaderLine[]
  body: Buffer
  /** Name of the delivery within its case, for the report. */
  label?: string
}

/** An answer, or the error instead of one. `code` is Node's, or `TIMEOUT`, or `CUT_OFF` where `cutOff` was asked for. */
export type DeliveryAnswer = (
  | {
      status: number
      headers: http.IncomingHttpHeaders
      early: boolean
      /** The beginning of the body, where `readBody` was asked for. */
      body?: string
    }
  | {
      error: string
      code: string
      /** True when the receiver answered once the connection ended, after the time limit. */
      answersAtEnd?: true
    }
) & {
  /** Why no verdict can rest on this answer. */
  unjudged?: string
}

export interface DeliveryOptions {
  /** Where the body is split: the second part is sent `holdBackMs` later. By default before the last byte. */
  splitAt?: number
  /** Milliseconds between the two parts of the body. An answer that comes in between is `early`. */
  holdBackMs?: number
  /** Close the connection in the middle of the body; no answer is waited for. */
  cutOff?: true
  /** At the time limit, end the sending side of the connection, and see whether the receiver answers then. */
  endAtTimeout?: true
  /** Wait for the end of the answer, and return the beginning of its body. */
  readBody?: true
  /** Time limit of an answer from the start of the request, in milliseconds; the run's own by default. */
  timeoutMs?: number
}
export type SendDelivery = (delivery: Delivery, options?: DeliveryOptions) => Promise<DeliveryAnswer>

export interface Destination {
  url: URL
  /** Added to each request. */
  headers: readonly HeaderLine[]
  /** Authorities in PEM, beside those that this machine trusts. */
  ca: readonly string[]
  insecure: boolean
  timeoutMs: number
  /** Resolves the name of the URL; by default as Node does. */
  lookup?: LookupFunction | undefined
  /** Aborts the requests in flight, and all later ones. */
  signal: AbortSignal
}

/** Sends to a receiver: each request on a connection of its own, headers in the order and number given. */
export function createDeliverySender({
  url,
  headers: more,
  ca,
  insecure,
  timeoutMs: usualMs,
  lookup,
  signal,
}: Destination): SendDelivery {
  const encrypted = url.protocol === 'https:'
  const secureContext = encrypted ? trustedContext(ca) : undefined
  const trust = encrypted ? { secureContext, rejectUnauthorized: !insecure, ALPNProtocols: ['http/1.1'] } : {}
  const { request } = encrypted ? https : http
  // Each request in flight listens, and twenty at once are not a leak.
  setMaxListeners(0, signal)
  return (
    { headers, body },
    { splitAt, holdBackMs, cutOff, endAtTimeout, readBody, timeoutMs = usualMs } = {},
  ) =>
    new Promise((resolve) => {
      const lines = [...frame(url, headers, body), ...headers.filter(isSent), ...more].flat()
      const call = request(url, { method: 'POST', headers: lines, agent: false, signal, lookup, ...trust })
      const timeout = { error: lateText(timeoutMs), code: 'TIMEOUT' }
      let isLate = false
      let late = setTimeout(() => {
        if (endAtTimeout === undefined) return end(timeout)
        isLate = true
        late = setTimeout(() => end(timeout), REST_MS)
        call.socket?.end()
      }, timeoutMs)
      const split = splitAt ?? body.length - 1
      let complete = holdBackMs === undefined
      const held = complete ? undefined : setTimeout(finish, holdBackMs)
      const end = (answer: DeliveryAnswer) => {
        clearTimeout(late)
        clearTimeout(held)
        // A body that ends early would be a fault of its own.
        if ('status' in answer && !complete) finish()
        resolve(answer)
        // The rest of an answer is read, so that no receiver sees a broken connection; one without an end is cut off.
        setTimeout(() => call.destroy(), 'status' in answer ? REST_MS : 0).unref()
      }
      call.on('response', (response) => {
        const { statusCode = 0, headers: answered } = response
        const answer = { status: statusCode, headers: answered, early: !complete }
        if (isLate) end({ ...timeout, answersAtEnd: true })
        else if (readBody) void textOf(response).then((body) => end({ ...answer, body }))
        else {
          end(answer)
          response.resume()
        }
      })
      call.on('error', (error) => end(isLate ? timeout : failure(error)))
      if (cutOff) call.write(body.subarray(0, split), () => call.destroy(CUT_OFF))
      else if (complete) call.end(body)
      else call.write(body.subarray(0, split))

      function finish(): void {
        complete = true
        call.end(body.subarray(split))
      }
    })
}

/** Most characters of an answer's body that are read: pages of frameworks for developers list all variables. */
const MOST_CHARACTERS = 262_144

/** Reads the beginning of a body, as far as it arrives. */
async function textOf(response: http.IncomingMessage): Promise<string> {
  let text = ''
  const late = setTimeout(() => response.destroy(), REST_MS)
  try {
    for await (const chunk of response.setEncoding('utf8')) {
      text += String(chunk)
      if (text.length >= MOST_CHARACTERS) break
    }
  } catch {
    // What arrived before the end is enough.
  }
  clearTimeout(late)
  return text
}

/** An empty content type stands for none. */
function isSent([name, value]: HeaderLine): boolean {
  return name !== 'Content-Type' || value !== ''
}

/** The headers of every delivery; a content type of the delivery's own comes instead of JSON's. */
function frame({ host }: URL, own: readonly HeaderLine[], body: Buffer): HeaderLine[] {
  const isTyped = own.some(([name]) => name === 'Content-Type')
  return [
    ['Host', host],
    ...(isTyped ? [] : [['Content-Type', 'application/json'] as const]),
    ['Content-Length', String(body.length)],
    ['Connection', 'close'],
  ]
}

/** Time limit from the head of an answer to its end, in milliseconds. */
const REST_MS = 1_000

function lateText(timeoutMs: number): string {
  return `no response within ${timeoutMs / 1000} s`
}

const CUT_OFF = Object.assign(new Error('aborted in the middle of the body'), { code: 'CUT_OFF' })

const words: Record<string, string> = {
  ECONNREFUSED: 'connection refused',
  ENOTFOUND: 'host not found',
  ECONNRESET: 'connection closed without a response',
  EPIPE: 'connection closed without a response',
  ERR_TLS_CERT_ALTNAME_INVALID: 'certificate is for another host',
}

function failure(error: NodeJS.ErrnoException): DeliveryAnswer {
  const { code = 'UNKNOWN' } = error
  if (code.startsWith('HPE_')) return { error: 'response is not HTTP', code }
  if (code === 'EPROTO') return { error: `TLS handshake failed: ${connectionReason(error)}`, code }
  return { error: words[code] ?? connectionReason(error), code }
}
