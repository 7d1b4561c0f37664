import { pipeline, type Readable, type Transform } from 'node:stream'
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib'
import { setTimeout as sleep } from 'node:timers/promises'
import { Agent, request } from 'undici'
import { trustedContext } from '../../certificates/trusted.ts'
import { connectionReason } from '../../model/text/advice.ts'

/** An answer of the service under test, whatever it holds. */
export interface ServiceResponse {
  status: number
  headers: Readonly<Record<string, string | string[] | undefined>>
  text: string
  /** `undefined` when the body is not JSON, or nested deeper than any answer has to be. */
  json: unknown
}

/** Options of a request beside method and path. */
export interface RequestOptions {
  /** Sent as JSON. */
  json?: unknown
  /** Sent as it is. */
  body?: string
  /** The value of `Authorization`; `null` sends none. By default the key for this request. */
  authorization?: string | null
  headers?: Readonly<Record<string, string>>
  /** Uses the connection of the latest request with this option, unless it was closed. */
  reuses?: boolean
}

export type Method = 'GET' | 'PUT' | 'POST' | 'PATCH' | 'DELETE'

/** Sends one request. A path that begins with `/` is under the base URL. @throws NoAnswer */
export type Ask = (method: Method, path: string, sent?: RequestOptions) => Promise<ServiceResponse>

/** The service gave no answer in time, or closed the connection without one. */
export class NoAnswer extends Error {
  override readonly name = 'NoAnswer'
  readonly reason: string
  /** Code of the connection's error, such as `ECONNREFUSED`. */
  readonly code: string | undefined

  constructor(request: string, cause: unknown) {
    const { code } = cause as NodeJS.ErrnoException
    const reason = connectionReason(cause as Error) || String(cause)
    super(`${request} got no response: ${reason}`, { cause })
    this.reason = reason
    this.code = code
  }
}

/** Returns true for a response that asks to repeat the request later. It neither keeps nor breaks a rule. */
export function isLater({ status, headers }: Pick<ServiceResponse, 'status' | 'headers'>): boolean {
  return status === 429 || (status === 503 && headers['retry-after'] !== undefined)
}

/** Most attempts of a request that is to be repeated later, and the longest `Retry-After` to wait for, in milliseconds. */
const MOST_TRIES = 5
const MOST_WAIT_MS = 60_000

interface AskOptions {
  /** With the version segment, without a slash at the end. */
  baseUrl: string
  /** The API key for a request to the host of the base URL; `undefined` sends none. Other hosts are sent none. */
  keyFor: (method: Method, path: string) => string | undefined
  /** PEM of the authority that issued the service's certificate. */
  ca?: string | undefined
  /** Ends the wait before a request is repeated, except one that removes what the check has made. */
  signal: AbortSignal
  /** Time limit from the request to the last byte of the answer, in milliseconds. */
  answerMs: number
  /** The longest time that is waited to repeat requests, in all, in milliseconds. */
  repeatMs: number
  /** Called with each answer. */
  onAnswer: (method: Method, path: string, answer: ServiceResponse) => void
  /** Called for each request to the service under test that gets no answer. */
  onNoAnswer: () => void
}

/** Opens connections to the service under test. Redirects are not followed. */
export function createAsk({
  baseUrl,
  keyFor,
  ca,
  signal,
  answerMs,
  repeatMs,
  onAnswer,
  onNoAnswer,
}: AskOptions): { ask: Ask; close: () => Promise<void> } {
  let waitedMs = 0
  const connect = {
    timeout: answerMs,
    ...(baseUrl.startsWith('https:') && { secureContext: trustedContext(ca === undefined ? [] : [ca]) }),
  }
  // A connection of its own for each request: one that the service closes while it is idle says nothing about a rule.
  const separate = new Agent({ pipelining: 0, connect })
  const reused = new Agent({ connections: 1, connect })
  async function send(
    url: string,
    options: { method: Method; headers: Record<string, string>; body: string | null; dispatcher: Agent },
  ) {
    // Not undici's timeouts, which begin again with each byte and each informational answer.
    const deadline = new AbortController()
    const late = new Error(`no complete response within ${answerMs / 1000} s`)
    const timer = setTimeout(() => deadline.abort(late), answerMs)
    try {
      const answer = await request(url, { ...options, signal: deadline.signal })
      // Nothing is decoded of an empty body.
      const isEmpty = answer.statusCode === 204 || answer.headers['content-length'] === '0'
      const coding = isEmpty ? undefined : answer.headers['content-encoding']
      const text = await readText(decoded(answer.body, coding))
      return { status: answer.statusCode, headers: answer.headers, text, json: parseJson(text) }
    } finally {
      clearTimeout(timer)
    }
  }
  return {
    async ask(
      method,
      path,
      { json, body = json === undefined ? undefined : JSON.stringify(json), reuses = false, ...sent } = {},
    ) {
      const headers: Record<string, string> = { ...sent.headers }
      const url = path.startsWith('/') ? baseUrl + path : path
      const key = isSameHost(url, baseUrl) ? keyFor(method, path) : undefined
      const authorization =
        sent.authorization === undefined && key !== undefined ? `Bearer ${key}` : sent.authorization
      if (typeof authorization === 'string') headers.authorization = authorization
      if (body !== undefined) headers['content-type'] = 'application/json'
      for (let tries = 1; ; tries += 1) {
        const dispatcher = reuses ? reused : separate
        const options = { method, headers, body: body ?? null, dispatcher }
        const answer = await send(url, options).catch((cause: unknown) => {
          if (isSameHost(url, baseUrl)) onNoAnswer()
          throw new NoAnswer(`${method} ${path}`, cause)
        })
        onAnswer(method, path, answer)
        const waitMs = retryAfterMs(answer)
        const isLast = tries === MOST_TRIES || waitMs > MOST_WAIT_MS || waitedMs + waitMs > repeatMs
        if (!isLater(answer) || isLast) return answer
        waitedMs += waitMs
        await sleep(waitMs, undefined, method === 'DELETE' ? {} : { signal })
      }
    },
    async close() {
      await Promise.all([separate.destroy(), reused.destroy()])
    },
  }
}

/** The most bytes of an answer that are read. */
const MOST_BYTES = 8 * 1024 * 1024

/**
 * A response without `Accept-Encoding` in its request may have any coding. undici's own interceptor prints that it is
 * experimental.
 */
const decoders: Readonly<Record<string, () => Transform>> = {
  gzip: createGunzip,
  'x-gzip': createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
}

/** The body without its content coding; as it is where the coding is unknown. */
function decoded(body: Readable, coding: string | string[] | undefined): Readable {
  const decoder = decoders[String(coding ?? '').toLowerCase()]
  // The reader gets the error of either stream.
  return decoder === undefined ? body : pipeline(body, decoder(), () => undefined)
}

/** Reads a body as UTF-8. @throws Error when it is larger than any answer has to be. */
async function readText(body: AsyncIterable<Uint8Array>): Promise<string> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of body) {
    size += chunk.length
    if (size > MOST_BYTES) throw new Error(`the response is larger than ${MOST_BYTES} bytes`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString()
}

/** `Retry-After` in milliseconds, whether it is in seconds or a date; one second where there is none. */
function retryAfterMs({ headers }: ServiceResponse): number {
  const text = String(headers['retry-after'] ?? '1')
  const ms = /^\d+$/.test(text) ? Number(text) * 1000 : Date.parse(text) - Date.now()
  return Math.max(Number.isNaN(ms) ? 1000 : ms, 0)
}

/** Returns true when a key for the base URL may be sent to another URL: to the same host, and not in the clear where TLS is used. */
function isSameHost(url: string, baseUrl: string): boolean {
  const [one, base] = [new URL(url), new URL(baseUrl)]
  return one.hostname === base.hostname && (one.protocol === base.protocol || one.protocol === 'https:')
}

export function isSuccess({ status }: Pick<ServiceResponse, 'status'>): boolean {
  return status >= 200 && status < 300
}

/** Returns the `X-Request-Id` of a response; empty where it has none. */
export function requestIdOf({ headers }: Pick<ServiceResponse, 'headers'>): string {
  return String(headers['x-request-id'] ?? '')
}

/** Describes a response by its status, and by the address of a redirect: `301 to /v1/locations/`. */
export function statusOf({ status, headers }: Pick<ServiceResponse, 'status' | 'headers'>): string {
  const isRedirect = status >= 300 && status < 400 && headers.location !== undefined
  return isRedirect ? `${status} to ${String(headers.location)}` : String(status)
}

/** Limit of nesting in JSON from the service. Functions that walk a value recurse at most this deep. */
const MOST_DEPTH = 100

/** The value of a JSON text; `undefined` when it is not JSON, or nested deeper than `MOST_DEPTH`. */
export function parseJson(text: string): unknown {
  if (isDeep(text)) return undefined
  try {
    // Some services begin with a byte-order mark.
    return JSON.parse(text.replace(/^\ufeff/, ''))
  } catch {
    return undefined
  }
}

/** Returns true when brackets outside of strings nest deeper than `MOST_DEPTH`. */
function isDeep(text: string): boolean {
  let depth = 0
  let isString = false
  for (let index = 0; index < text.length; index += 1) {
    const character = text[index]
    if (isString && character === '\\') index += 1
    else if (character === '"') isString = !isString
    else if (isString) continue
    else if (character === '[' || character === '{') depth += 1
    else if (character === ']' || character === '}') depth -= 1
    if (depth > MOST_DEPTH) return true
  }
  return false
}
