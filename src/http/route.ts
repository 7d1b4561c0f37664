import type { ZodType } from 'zod'
import type { ApiKey, Scope } from '../model/api-key.ts'
import type { TraceContext } from '../model/text/trace-context.ts'
import { validate } from '../model/validation.ts'
import type { OperationDoc } from './openapi/operation.ts'
import type { QueryParameter } from './openapi/parameters.ts'
import type { HttpResponse } from './refusals.ts'
import type { PushSummary } from './request-context.ts'
import type { CallerRequest } from './auth/sessions.ts'

/** A row of a route table, as in section 4 of the specification. */
export interface Route {
  method: 'GET' | 'PUT' | 'POST' | 'DELETE'
  /** Path below the base, with `:name` for a parameter. */
  path: string
  /** Required scope of the key; `null` for a route without a key. */
  scope: Scope | null
  /** Accepted query names with their documentation. Other names are refused under `/_sim` and ignored elsewhere. */
  query?: Readonly<Record<string, QueryParameter>>
  /** Schema of the body. */
  body?: ZodType
  /** The operation in the OpenAPI document; pages and assets have none. */
  doc?: OperationDoc
  /** True when the log leaves out the response body, because it has a secret or is long. */
  hidesResponse?: true
  /** True when it answers while the service shuts down. */
  whileStopping?: true
  /**
   * True for a route that must answer while the database is away. A key that it accepted once stays accepted until this
   * instance learns of a change of keys.
   */
  withoutDatabase?: true
  /** True when only an API key is accepted, not a session of the inspector. */
  keyOnly?: true
  handle(call: Call): Promise<Reply> | Reply
}

/** A request as routes see it: authenticated, with decoded parameters. */
export interface Call {
  /** The key of the caller. */
  key: ApiKey
  params: Readonly<Record<string, string>>
  query: URLSearchParams
  /** The request, for routes that read its key or session. */
  request: CallerRequest
  /** Trace context of the request; only with `--trace`. */
  trace?: TraceContext | undefined
  /** Aborts when the caller disconnects before the response. */
  gone(): AbortSignal
  /** Returns a header of the request. */
  header(name: string): string | null
  /** Reads the body as JSON, once. @throws Refusal when it is not JSON or too long. */
  body(): Promise<unknown>
  /** Streams the chunks of a JSON body, once. @throws Refusal when it is not JSON or longer than `limit` bytes. */
  chunks(limit: number, take: (chunk: Uint8Array) => void): Promise<void>
  /** Adds the summary of a push to the log entry of the request. */
  note(push: PushSummary): void
}

/** A status with a resource to send as JSON, or a complete response. */
export type Reply = { status: number; json: unknown } | HttpResponse

/** Makes the reply to a request. */
export type Handle = () => Promise<Reply> | Reply

/** A route with its documentation. */
export type Documented = Route & { doc: OperationDoc }

/** All names of a query type: a missing or an extra name does not compile. */
export type QueryOf<Query> = Readonly<Record<keyof Query, QueryParameter>>

/** Returns body and handler of a route whose body is validated first. @throws Refusal `validation_failed`. */
export function withBody<Body>(
  body: ZodType<Body>,
  handle: (body: Body, call: Call) => Promise<Reply> | Reply,
): Pick<Route, 'body' | 'handle'> {
  return { body, handle: async (call) => handle(validate(body, await call.body()), call) }
}

export const ok = (json: unknown): Reply => ({ status: 200, json })
export const created = (json: unknown): Reply => ({ status: 201, json })
