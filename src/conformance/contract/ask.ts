import { Agent, request } from 'undici'

/** An answer of the service under test, whatever it holds. */
export interface Answer {
  status: number
  headers: Readonly<Record<string, string | string[] | undefined>>
  text: string
  /** `undefined` when the body is not JSON. */
  json: unknown
}

/** What a request carries beside method and path. */
export interface Sent {
  /** Sent as JSON. */
  json?: unknown
  /** Sent as it is. */
  body?: string
  /** The value of `Authorization`; `null` sends none. By default the key for this request. */
  authorization?: string | null
  headers?: Readonly<Record<string, string>>
}

export type Method = 'GET' | 'PUT' | 'POST' | 'PATCH' | 'DELETE'

/** Sends one request. A path that begins with `/` is under the base URL. @throws NoAnswer */
export type Ask = (method: Method, path: string, sent?: Sent) => Promise<Answer>

/** The service gave no answer in time, or closed the connection without one. */
export class NoAnswer extends Error {
  override readonly name = 'NoAnswer'
}

export interface AskOptions {
  /** With the version segment, without a slash at the end. */
  baseUrl: string
  /** The API key for a request; `undefined` sends none. */
  keyFor: (method: Method, path: string) => string | undefined
  /** PEM of the authority that issued the service's certificate. */
  ca?: string | undefined
  /** How long an answer may take, in milliseconds. */
  answerMs: number
}

/** Opens connections to the service under test. Redirects are not followed. */
export function createAsk({ baseUrl, keyFor, ca, answerMs }: AskOptions): {
  ask: Ask
  close: () => Promise<void>
} {
  const dispatcher = new Agent({
    // A connection of its own for each request: one that the service closes while it is idle says nothing about a rule.
    pipelining: 0,
    headersTimeout: answerMs,
    bodyTimeout: answerMs,
    connect: { timeout: answerMs, ...(ca === undefined ? {} : { ca }) },
  })
  return {
    async ask(
      method,
      path,
      { json, body = json === undefined ? undefined : JSON.stringify(json), ...sent } = {},
    ) {
      const headers: Record<string, string> = { ...sent.headers }
      const key = keyFor(method, path)
      const authorization =
        sent.authorization === undefined && key !== undefined ? `Bearer ${key}` : sent.authorization
      if (typeof authorization === 'string') headers.authorization = authorization
      if (body !== undefined) headers['content-type'] = 'application/json'
      const url = path.startsWith('/') ? baseUrl + path : path
      try {
        const answer = await request(url, { method, headers, body: body ?? null, dispatcher })
        const text = await answer.body.text()
        return { status: answer.statusCode, headers: answer.headers, text, json: jsonOf(text) }
      } catch (cause) {
        const { message } = cause as Error
        throw new NoAnswer(`${method} ${path} got no answer: ${message || String(cause)}`, { cause })
      }
    },
    close: () => dispatcher.destroy(),
  }
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

export function isSuccess({ status }: Pick<Answer, 'status'>): boolean {
  return status >= 200 && status < 300
}
