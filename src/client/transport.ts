import { ApiError, TimedOut, Unreachable } from './errors.ts'
import { limited, type CallOptions } from './limit.ts'
import { connectionReason } from '../model/text/advice.ts'
import { withoutVersion } from '../model/url.ts'
import { shown } from '../model/simulator/settings.ts'
import { stateText } from '../model/simulator/record-lines.ts'
import type { State } from '../model/simulator/state.ts'

export interface ClientOptions {
  /** URL of the service, `http://127.0.0.1:4100`; a final `/v1` is accepted. */
  url: string
  /**
   * API key, sent with every request.
   * @default undefined, none is sent
   */
  apiKey?: string | undefined
  /**
   * PEM of the authorities to trust in place of the public ones, for `https:` URLs.
   * @default undefined, the public authorities
   */
  ca?: string | undefined
  /**
   * Function that sends requests, such as the `fetch` of a simulator in this process.
   * @default the global fetch
   */
  fetch?: FetchText | undefined
}

/** The part of `fetch` that the client uses. */
export type FetchText = (address: string, init: RequestInit) => Promise<Response>

/** Body of a request: text, bytes, or a stream of bytes. */
export type Body = string | Uint8Array | AsyncIterable<Uint8Array>

/**
 * Creates a function that sends a request and resolves with status and JSON of the response.
 * @throws ApiError unless the status is 2xx; Unreachable, TimedOut, or the error of a streamed body.
 */
export function createCall(send: Send) {
  return async (method: string, path: string, body?: Body, options: CallOptions = {}) => {
    const { response, json } = await limited(
      options,
      async (signal) => {
        const answer = await send(method, path, body, signal)
        return { response: answer, json: await readBody(answer, signal) }
      },
      consequenceOfTimeout(method, path),
    )
    if (!response.ok) throw apiErrorOf(response, json, path)
    return { status: response.status, requestId: response.headers.get('x-request-id'), json }
  }
}

/** Operations that the service stops when their request ends. */
const STOPPING = ['POST /_sim/clock', 'POST /_sim/reset', 'PUT /_sim/state']

function consequenceOfTimeout(method: string, path: string): string {
  if (STOPPING.includes(`${method} ${path}`)) return ' and stopped the operation.'
  return method === 'GET' ? '.' : '. The request may still take effect.'
}

/**
 * Sends a request and resolves with the response of any status.
 * @throws Unreachable, TimedOut, the reason of `signal`, or the error of a streamed body.
 */
export type Send = (
  method: string,
  path: string,
  body?: Body,
  signal?: AbortSignal,
  headers?: Readonly<Record<string, string>>,
) => Promise<Response>

export function createSend({ url, apiKey, ca, fetch = fetchTrusting(ca) }: ClientOptions): Send {
  const { origin, pathname } = serviceUrlOf(url)
  const base = origin + withoutVersion(pathname)
  const key = apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` }
  return async (method, path, body, signal, others) => {
    const type = body === undefined ? {} : { 'content-type': 'application/json' }
    const headers = { ...key, ...type, ...others }
    let broken: { reason: unknown } | undefined
    const sent = isStreamed(body) ? passedOn(body, (reason) => (broken = { reason })) : (body ?? null)
    try {
      // `fetch` requires `half` for a streamed body.
      const init = { method, headers, body: sent, signal: signal ?? null, duplex: 'half', redirect: 'manual' }
      const response = await fetch(base + path, init as RequestInit)
      // A service without a port has answered the part of the body that it got.
      if (broken !== undefined) throw broken.reason
      return response
    } catch (error) {
      if (signal?.aborted) throw error
      if (broken !== undefined) throw broken.reason
      const code = codeOfCause(error)
      // fetch gives up after five minutes without an answer.
      if (code === 'UND_ERR_HEADERS_TIMEOUT')
        throw new TimedOut(`${origin} accepted the request but did not answer within five minutes.`, {
          cause: error,
        })
      const reason = reasonOf(error)
      // A connection that ends within the TLS handshake has sent no request.
      if (/^(ECONNRESET|EPIPE|UND_ERR_SOCKET)$/.test(code ?? '') && !reason.includes('before secure TLS'))
        throw new Unreachable(
          `The connection to ${origin} broke before a response (${reason}), so the request may have been handled.`,
          { failedWhile: 'waiting', connectionCode: code, cause: error },
        )
      throw new Unreachable(`No service answers at ${origin} (${reason}).`, {
        failedWhile: 'connecting',
        connectionCode: code,
        cause: error,
      })
    }
  }
}

function isStreamed(body: Body | undefined): body is AsyncIterable<Uint8Array> {
  return typeof body === 'object' && Symbol.asyncIterator in body
}

/** Yields the bytes of a body. Calls `onError` with an error of reading them, which `fetch` reports as one of the network. */
async function* passedOn(
  body: AsyncIterable<Uint8Array>,
  onError: (error: unknown) => void,
): AsyncGenerator<Uint8Array> {
  try {
    yield* body
  } catch (error) {
    onError(error)
    throw error
  }
}

/** @throws TypeError unless it is an absolute http: or https: URL. */
function serviceUrlOf(url: string): URL {
  const parsed = URL.canParse(url) ? new URL(url) : undefined
  if (parsed !== undefined && /^https?:$/.test(parsed.protocol)) return parsed
  throw new TypeError(
    `url must be the http: or https: URL of a service, such as http://127.0.0.1:4100, got ${shown(url)}.`,
  )
}

/**
 * Returns a `fetch` that trusts these authorities. Loads undici for what Node's own fetch cannot do: trust further
 * authorities, and wait longer than five minutes for the response to a move of the clock.
 */
export function fetchTrusting(ca: string | undefined): FetchText {
  const load = async (timeouts: { headersTimeout?: number }) => {
    const { Agent, fetch: through } = await import('undici')
    const dispatcher = new Agent({ ...timeouts, ...(ca !== undefined && { connect: { ca } }) })
    return (address: string, init: RequestInit) =>
      through(address, { ...init, dispatcher } as Parameters<typeof through>[1])
  }
  let forMoves: ReturnType<typeof load> | undefined
  let forOthers: ReturnType<typeof load> | undefined
  return async (address, init) => {
    const isMove = init.method === 'POST' && address.endsWith('/_sim/clock')
    if (isMove) return (await (forMoves ??= load({ headersTimeout: 0 })))(address, init)
    return ca === undefined ? fetch(address, init) : (await (forOthers ??= load({})))(address, init)
  }
}

function codeOfCause(error: unknown): string | undefined {
  return error instanceof Error ? (error.cause as NodeJS.ErrnoException | undefined)?.code : undefined
}

function reasonOf(error: unknown): string {
  const cause = error instanceof Error ? (error.cause ?? error) : error
  if (cause instanceof AggregateError) return reasonOf(cause.errors[0])
  if (!(cause instanceof Error)) return String(cause)
  const { code, message } = cause as NodeJS.ErrnoException
  // Node adds the local address, which may be unknown: `- Local (undefined:undefined)`.
  if (code === 'ECONNREFUSED') return 'connection refused'
  if (message === 'bad port') return 'Node.js and browsers refuse requests to this port'
  return /wrong version number|packet length too long/.test(message)
    ? 'it does not speak HTTPS'
    : connectionReason(cause).replace(/ - Local \(.*\)$/, '')
}

/**
 * Returns the parsed JSON of a response, or its text when it is not JSON.
 * @throws Unreachable when the response breaks off, or the reason of `signal`.
 */
export async function readBody(response: Response, signal: AbortSignal | undefined): Promise<unknown> {
  const text = await response.text().catch((cause: unknown) => {
    if (signal?.aborted === true) throw signal.reason
    throw new Unreachable('The connection closed before the whole response arrived.', { cause })
  })
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

/** Returns the error of a response without a 2xx status. */
export function apiErrorOf({ status, headers }: Response, json: unknown, path: string): ApiError {
  // A redirect is not followed: that would change the method, or send the key to another host.
  const target = status < 400 ? headers.get('location') : null
  const requestId = headers.get('x-request-id')
  const error = errorOf(json)
  const body =
    target !== null
      ? { message: `The service redirects to ${target}. Use the URL that it redirects to.` }
      : requestId === null && error.message === undefined
        ? { ...error, message: foreignAnswer(status, path) }
        : error
  return new ApiError(status, body, requestId, path)
}

/** Returns the message of a response that no service wrote: each of theirs has an X-Request-Id (specification section 1). */
function foreignAnswer(status: number, path: string): string {
  const reason = 'the response has no X-Request-Id.'
  if (status === 413)
    return `A proxy refused the length of the request: ${reason} Raise its limit, such as client_max_body_size of nginx.`
  if (status === 504)
    return `A proxy waited too long for the service: ${reason} Raise its timeout, such as proxy_read_timeout of nginx, and check that the service runs.`
  if (status === 502 || status === 503)
    return `A proxy answered in place of the service: ${reason} Check that the service runs, and that the proxy reaches it.`
  if (status === 404 && /%2F/i.test(path))
    return `A proxy or another server answered: ${reason} Check the URL, and that the proxy passes %2F in paths on (Apache: AllowEncodedSlashes).`
  return `A proxy or another server answered: ${reason} Check the URL and the proxy.`
}

/** Returns the `error` object of a response; empty when it has none. */
function errorOf(json: unknown): Record<string, unknown> {
  const { error } = (typeof json === 'object' && json !== null ? json : {}) as { error?: unknown }
  return typeof error === 'object' && error !== null ? (error as Record<string, unknown>) : {}
}

/** Returns `?limit=2&…`, or nothing for an empty query. */
export function queryText(query: object): string {
  const given = Object.entries(query).filter((entry: [string, unknown]) => entry[1] !== undefined)
  if (given.length === 0) return ''
  const text = given.map(([name, value]): [string, string] => [name, String(value)])
  return `?${new URLSearchParams(text).toString()}`
}

/** A JSON text that is sent as it is. */
export type JsonText = string | Uint8Array

/** A check, or its external id. */
export type CheckOrId = string | { readonly external_id: string }

/** A record of any other kind, or its id. */
export type RecordOrId = string | { readonly id: string }

/** A time: a `Date`, milliseconds since 1970, or an ISO 8601 text. */
export type TimeGiven = Date | number | string

/**
 * Returns the ISO 8601 text of a time; the service validates texts.
 * @throws RangeError for an invalid Date or number.
 */
export function timeText(time: TimeGiven | undefined): string | undefined {
  if (typeof time === 'string' || time === undefined) return time
  const date = new Date(time)
  if (!Number.isNaN(date.getTime())) return date.toISOString()
  throw new RangeError(
    `A time must be a Date, milliseconds since 1970, or an ISO 8601 text, got ${shown(time)}.`,
  )
}

/** @throws TypeError unless it is a check with an external id, or a text. */
export function externalIdOf(check: CheckOrId): string {
  return requireId(typeof check === 'object' ? (check as Partial<typeof check> | null)?.external_id : check)
}

/** @throws TypeError unless it is a record with an id, or a text. */
export function idOf(record: RecordOrId): string {
  return requireId(typeof record === 'object' ? (record as Partial<typeof record> | null)?.id : record)
}

/** Returns an id, encoded for a path. @throws TypeError for what JavaScript would send as `undefined` or `[object Object]`. */
export function encodedId(id: string): string {
  return encodeURIComponent(requireId(id))
}

function requireId(given: unknown): string {
  if (given === '.' || given === '..')
    throw new TypeError(`An id must not be ${given} here, because URLs resolve it.`)
  if (typeof given === 'number' || (typeof given === 'string' && given !== '')) return String(given)
  throw new TypeError(`An id must be a text of at least 1 character, got ${shown(given)}.`)
}

/** Also true for bytes of another realm, such as a test runner's, which `instanceof` misses. */
function isBytes(given: unknown): given is Uint8Array {
  return Object.prototype.toString.call(given) === '[object Uint8Array]'
}

/** Returns JSON text; serializes other values. @throws TypeError for a body that was forgotten. */
export function textOf(body: JsonText | object): JsonText {
  if (typeof body === 'string' || isBytes(body)) return body
  const text = JSON.stringify(body) as string | undefined
  if (text !== undefined) return text
  throw new TypeError(`The body must be an object or a JSON text, got ${shown(body)}.`)
}

/** Returns the JSON text of a state, one record per line; streamed bytes stay as they are. */
export function stateJson(state: JsonText | AsyncIterable<Uint8Array> | State): Body {
  if (typeof state !== 'string' && (typeof state !== 'object' || (state as unknown) === null))
    throw new TypeError(`The state must be an object or a JSON text, got ${shown(state)}.`)
  if (typeof state === 'string' || isBytes(state) || Symbol.asyncIterator in state) return state
  return [...stateText(state)].join('')
}
