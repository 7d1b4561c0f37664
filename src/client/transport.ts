import { ApiError, Unreachable } from '../api-error.ts'
import type { ListQuery } from './views.ts'

export interface ClientOptions {
  /** Of the service, `http://127.0.0.1:4100`; a final `/v1` may be there. */
  url: string
  apiKey?: string | undefined
  /** PEM of the authority that issued the service's certificate, for `https:` URLs. */
  ca?: string | undefined
}

/** Makes calls: each resolves with its status beside its answer. @throws ApiError unless that is 2xx, and Unreachable. */
export function createCall(options: ClientOptions) {
  return async (method: string, path: string, body?: string | Uint8Array) => {
    const response = await send(options, method, path, body)
    const requestId = response.headers.get('x-request-id')
    const json = await readBody(response)
    if (!response.ok) throw new ApiError(response.status, errorOf(json), requestId)
    return { status: response.status, requestId, json }
  }
}

/** Sends a request and resolves with whatever is answered. @throws Unreachable, or the reason of `signal`. */
export async function send(
  options: ClientOptions,
  method: string,
  path: string,
  body?: string | Uint8Array,
  signal?: AbortSignal,
) {
  const url = new URL(options.url)
  const address = url.origin + url.pathname.replace(/\/+(v1\/?)?$/, '') + path
  const headers: Record<string, string> = {}
  if (options.apiKey !== undefined) headers.authorization = `Bearer ${options.apiKey}`
  if (body !== undefined) headers['content-type'] = 'application/json'
  try {
    return await fetchWith(options.ca, address, {
      method,
      headers,
      body: body ?? null,
      signal: signal ?? null,
    })
  } catch (error) {
    if (signal?.aborted) throw error
    throw new Unreachable(`No service answers at ${url.origin}: ${reasonOf(error)}.`, { cause: error })
  }
}

/** Node's fetch knows no authority but the public ones, so a service with a certificate of its own takes undici's. */
async function fetchWith(ca: string | undefined, address: string, init: RequestInit): Promise<Response> {
  if (ca === undefined) return fetch(address, init)
  const { Agent, fetch: fetchThrough } = await import('undici')
  const dispatcher = new Agent({ connect: { ca } })
  const response = await fetchThrough(address, { ...init, dispatcher } as Parameters<typeof fetchThrough>[1])
  return response
}

function reasonOf(error: unknown): string {
  const cause = error instanceof Error ? (error.cause ?? error) : error
  if (cause instanceof AggregateError) return reasonOf(cause.errors[0])
  const { code, message } = cause as { code?: string; message?: string }
  return code === 'ECONNREFUSED' ? 'the connection was refused' : (message ?? String(cause))
}

/** JSON, or the text of what is none. @throws Unreachable when it breaks off. */
export async function readBody(response: Response): Promise<unknown> {
  const text = await response.text().catch((cause: unknown) => {
    throw new Unreachable('The connection broke before the whole answer had arrived.', { cause })
  })
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

/** The `error` object of an answer; empty when it has none. */
export function errorOf(json: unknown): Record<string, unknown> {
  const { error } = (typeof json === 'object' && json !== null ? json : {}) as { error?: unknown }
  return typeof error === 'object' && error !== null ? (error as Record<string, unknown>) : {}
}

/** `?limit=2&…`, or nothing. */
export function queryText(query: ListQuery): string {
  const given = Object.entries(query).filter((entry) => entry[1] !== undefined)
  if (given.length === 0) return ''
  const text = given.map(([name, value]): [string, string] => [name, String(value)])
  return `?${new URLSearchParams(text).toString()}`
}
