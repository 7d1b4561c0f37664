import { Agent, request } from 'undici'

/** An answer of the implementation, of whatever kind. */
export interface Answer {
  status: number
  headers: Readonly<Record<string, string | string[] | undefined>>
  text: string
  /** `undefined` when the body is no JSON. */
  json: unknown
}

/** What to send beside method and path. */
export interface Sent {
  /** Sent as JSON. */
  json?: unknown
  /** Sent as it is. */
  body?: string
  /** The value of `Authorization`; `null` sends none. By default it is the key of the check. */
  authorization?: string | null
}

export type Ask = (method: 'GET' | 'PUT' | 'POST' | 'DELETE', path: string, sent?: Sent) => Promise<Answer>

/** The implementation did not answer, so nothing can be said about its rules. */
export class NoAnswer extends Error {
  override readonly name = 'NoAnswer'
}

/** Longer than any answer of a local service takes, short enough to be through within ten seconds. */
const PATIENCE_MS = 3_000

interface Target {
  baseUrl: string
  apiKey: string | undefined
  ca: string | undefined
}

/** Asks the implementation under a base URL. Redirects are not followed. */
export function createAsk({ baseUrl, apiKey, ca }: Target): { ask: Ask; close: () => Promise<void> } {
  const dispatcher = new Agent({
    headersTimeout: PATIENCE_MS,
    bodyTimeout: PATIENCE_MS,
    connect: { timeout: PATIENCE_MS, ...(ca === undefined ? {} : { ca }) },
  })
  const standard = apiKey === undefined ? null : `Bearer ${apiKey}`
  return {
    async ask(
      method,
      path,
      { json, body = json === undefined ? undefined : JSON.stringify(json), authorization = standard } = {},
    ) {
      const headers: Record<string, string> = {}
      if (authorization !== null) headers.authorization = authorization
      if (body !== undefined) headers['content-type'] = 'application/json'
      try {
        const answer = await request(baseUrl + path, { method, headers, body: body ?? null, dispatcher })
        const text = await answer.body.text()
        return { status: answer.statusCode, headers: answer.headers, text, json: jsonOf(text) }
      } catch (cause) {
        const { message } = cause as Error
        throw new NoAnswer(`${method} ${path} was not answered: ${message || String(cause)}`, { cause })
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

/** A field of a JSON value that may be anything. */
export function field(value: unknown, ...path: readonly string[]): unknown {
  return path.reduce<unknown>(
    (inside, name) =>
      typeof inside === 'object' && inside !== null ? (inside as Record<string, unknown>)[name] : undefined,
    value,
  )
}
