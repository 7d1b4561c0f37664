import type { ZodType } from 'zod'
import type { ApiKey, Scope } from '../model/api-key.ts'
import { validate } from '../model/validation.ts'
import type { OperationDoc } from './openapi/operation.ts'
import type { QueryParameter } from './openapi/parameters.ts'
import type { Answer } from './refusals.ts'
import type { PushSummary } from './request-context.ts'
import type { Asking } from './auth/sessions.ts'

/** One row of a route table, as the specification's section 4 lists them. */
export interface Route {
  method: 'GET' | 'PUT' | 'POST' | 'DELETE'
  /** Below the base, with `:name` for a parameter. */
  path: string
  /** The scope that the key must have; `null` for a route without a key. */
  scope: Scope | null
  /** Query names that it takes, each with its documentation. Under `/_sim` any other name is refused; elsewhere it is ignored. */
  query?: Readonly<Record<string, QueryParameter>>
  /** Schema of the body. */
  body?: ZodType
  /** Its operation in the OpenAPI document; pages and assets have none. */
  doc?: OperationDoc
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

/** A route with its documentation. */
export type Documented = Route & { doc: OperationDoc }

/** The names of a query type, complete: a missing or an extra name does not compile. */
export type QueryOf<Query> = Readonly<Record<keyof Query, QueryParameter>>

/** Body and handler of a route whose body is validated before it is handled. @throws Refusal `validation_failed`. */
export function withBody<Body>(
  body: ZodType<Body>,
  handle: (body: Body, call: Call) => Promise<Reply> | Reply,
): Pick<Route, 'body' | 'handle'> {
  return { body, handle: async (call) => handle(validate(body, await call.body()), call) }
}

export const ok = (json: unknown): Reply => ({ status: 200, json })
export const created = (json: unknown): Reply => ({ status: 201, json })
