import type { ApiKey, Scope } from '../model/api-key.ts'
import type { Answer } from './refusals.ts'
import type { PushSummary } from './request-context.ts'
import type { Asking } from './auth/session-cookie.ts'

/** One row of a route table: what a reader of the specification's section 4 sees, and what it does. */
export interface Route {
  method: 'GET' | 'PUT' | 'POST' | 'DELETE'
  /** Below the base, with `:name` for a parameter. */
  path: string
  /** What the key must be allowed to do; `null` for what needs no key. */
  scope: Scope | null
  /** The query names that it takes. Under `/_sim` any other name is refused; elsewhere other names are ignored. */
  query?: readonly string[]
  /** The answer holds a secret, which is shown this once: it stays out of the log. */
  secret?: true
  /** Needs an API key itself: a session of the inspector's page, which acts for one, is refused. */
  keyOnly?: true
  handle(call: Call): Promise<Reply> | Reply
}

/** One request, as a route sees it: authenticated, with its parameters decoded. */
export interface Call {
  /** The key of the caller. */
  key: ApiKey
  params: Readonly<Record<string, string>>
  query: URLSearchParams
  /** The request, from which a route reads its key or session. */
  request: Asking
  /** Aborts when the caller has gone before there is an answer. */
  gone(): AbortSignal
  /** A header of the request. */
  header(name: string): string | null
  /** Reads the body as JSON, once. @throws Refusal when it is none, or too long. */
  body(): Promise<unknown>
  /** Hands on the chunks of a JSON body as they arrive, once. @throws Refusal when it is no JSON, or longer than `limit` bytes. */
  chunks(limit: number, take: (chunk: Uint8Array) => void): Promise<void>
  /** Adds to the request's entry in the log what was found out about the push that it is. */
  note(push: PushSummary): void
}

/** A status with a resource to be sent as JSON, or a finished answer. */
export type Reply = { status: number; json: unknown } | Answer

/** A route under `/_sim`, which needs the scope `simulate`. */
export const simulatorRow = (
  method: Route['method'],
  path: string,
  handle: Route['handle'],
  query: Route['query'] = [],
): Route => ({ method, path, scope: 'simulate', query, handle })

export const ok = (json: unknown): Reply => ({ status: 200, json })
export const created = (json: unknown): Reply => ({ status: 201, json })
