import { H3, type H3Event } from 'h3'
import { FastResponse } from 'srvx'
import type { Refusal } from '../model/refusal.ts'
import type { AnsweredRequest } from '../model/simulator/request-entry.ts'
import type { RateLimit } from '../model/simulator/settings.ts'
import type { NewId } from '../operations/operation.ts'
import type { Service } from '../service.ts'
import type { ApiFaults } from './sim/api-faults.ts'
import {
  createAuthenticate,
  createRateLimit,
  type Authenticate,
  type KeyCache,
  type LimitDatabase,
} from './auth/api-key.ts'
import { answerTo, errorBody, statusOf, type HttpResponse } from './refusals.ts'
import { readTraceContext, traceIdOf, type TraceContext } from '../model/text/trace-context.ts'
import { CompleteResponse, hasUnreadLongBody, nodeOf } from './node-request.ts'
import type { RequestLog } from './request-log/log.ts'
import type { Handle, Route } from './route.ts'
import { addLateRoutes, addRoutes, anonymous, notFound, type Respond, type RoutingParts } from './router.ts'
import { byKeyOrSession, type Identify, type Sessions } from './auth/sessions.ts'
import { pathWithoutSecrets } from './redact.ts'
import { newRequestContext, type RequestLine, type RequestContext } from './request-context.ts'
import { channel } from 'node:diagnostics_channel'

export interface AppParts extends Omit<
  RoutingParts,
  'identify' | 'identifyFromMemory' | 'limit' | 'strictQuery'
> {
  service: Service
  /** Sessions of the inspector, which work only under `/_sim`. */
  sessions?: Pick<Sessions, 'keyHashOf'>
  log: RequestLog
  newId: NewId
  clock: { now(): Date }
  /** Monotonic clock in milliseconds; by default of the machine. */
  measure?: (() => number) | undefined
  /** Route tables by base path; functions load theirs for the first request. */
  tables: Readonly<Record<string, readonly Route[] | (() => Promise<readonly Route[]>)>>
  /** Throws for requests of foreign hosts and origins (contract section 10). */
  checkOrigin: (request: Request) => void
  /** Injects faults into requests. */
  faults?: Pick<ApiFaults, 'areSet' | 'around'> | undefined
  /** Rate limit per key under `/v1`. */
  rateLimit?: RateLimit | undefined
  /** Called with each answered request. */
  onRequest?: ((request: AnsweredRequest) => void) | undefined
  /** Where several instances count requests together. */
  limitDatabase?: LimitDatabase | undefined
  /** Limits the cache of keys; by default they are cached until a key changes. */
  keyCache?: KeyCache | undefined
  /** Reads the trace context of requests: their events keep it, and the log shows its trace id. */
  trace?: boolean | undefined
  /** Called with each bug: one that causes a 500, or one of the request log. */
  report: (bug: unknown, requestId: string) => void
}

/** An injected connection reset: the caller gets no response. */
export class ConnectionBroken extends Error {
  readonly code = 'ECONNRESET'
  override readonly message = 'the connection was reset'
}

/** The HTTP API as a function from request to response, for Node's server and for tests. */
export interface App {
  fetch: (request: Request) => Promise<Response>
  /** Returns the response to a request that was refused before routing, and logs it. */
  refuse: (refusal: Refusal, line: RequestLine) => RefusedAnswer
}

interface RefusedAnswer {
  status: number
  headers: Readonly<Record<string, string>>
  body: string
}

/**
 * Creates the HTTP API: `X-Request-Id` and the log around h3 and the route tables. Thrown errors become error responses
 * (contract section 4).
 */
export function createApp(parts: AppParts): App {
  const h3 = new H3({ debug: false, silent: true, allowMalformedURL: true })
  const authenticate = createAuthenticate(parts.service, parts.keyCache)
  const respond = createRespond(parts)
  const limit = parts.rateLimit && createRateLimit(parts.rateLimit, parts.limitDatabase)
  const identifyKey = byKey(authenticate)
  const identifyKeyOrSession =
    parts.sessions === undefined ? identifyKey : byKeyOrSession(parts.service, authenticate, parts.sessions)
  const identifyFromMemory = byKey(createAuthenticate(parts.service))
  const identifies: Record<string, Identify> = { '/v1': identifyKey, '/mcp': identifyKey }
  for (const [base, table] of Object.entries(parts.tables)) {
    const routing = {
      ...parts,
      strictQuery: base === '/_sim',
      limit: base === '/v1' ? limit : undefined,
      identifyFromMemory,
      identify: identifies[base] ?? (isOpen(base) ? async () => anonymous : identifyKeyOrSession),
    }
    if (typeof table === 'function') addLateRoutes(h3, base, table, respond, routing)
    else addRoutes(h3, base, table, respond, routing)
  }
  h3.all('/**', (event) =>
    respond(event, () => {
      throw notFound(event)
    }),
  )
  return {
    async fetch(request) {
      const context = newRequestContext(parts.newId, parts.clock.now(), parts.measure)
      const socket = nodeOf(request).req?.socket
      if (socket !== undefined) latest.set(socket, context)
      if (parts.trace === true) context.trace = traceOf(request)
      const response = await h3.request(request, undefined, { request: context })
      if (context.broken) throw new ConnectionBroken()
      return context.answered ? response : refusedByFramework(context, request, parts)
    },
    refuse(refusal, line) {
      const context = newRequestContext(parts.newId, parts.clock.now(), parts.measure)
      const body = errorBody(refusal.code, refusal.message, context.requestId)
      const answer = { status: statusOf[refusal.code], body }
      const headers = headersOf(context, answer)
      void addToLog(parts, line, context, answer)
      parts.onRequest?.(answered(line, context, answer))
      if (answers.hasSubscribers)
        answers.publish({ request: null, headers, ...answer } satisfies PublishedAnswer)
      return { headers, ...answer }
    },
  }
}

function traceOf({ headers }: Request): TraceContext | undefined {
  return readTraceContext(headers.get('traceparent'), headers.get('tracestate'))
}

/** Returns an answered request for the access log. */
function answered(
  { method, path }: RequestLine,
  context: RequestContext,
  { status }: Pick<HttpResponse, 'status'>,
): AnsweredRequest {
  const { requestId } = context
  return { requestId, method, path: pathWithoutSecrets(path), status, durationMs: durationOf(context) }
}

/** Returns how long a request took, in milliseconds. A reset may have set the clock of a seeded run back meanwhile. */
function durationOf({ measure, started }: RequestContext): number {
  return Math.max(0, Math.round((measure() - started) * 10) / 10)
}

/** Pages need no key: the table's address has a token, the API reference is public, and the inspector's page has no data. */
function isOpen(base: string): boolean {
  return ['', '/t', '/assets', '/openapi.json', '/docs'].includes(base)
}

function byKey(authenticate: Authenticate): Identify {
  return ({ headers }) => authenticate(headers.get('authorization'))
}

/** Replaces h3's own responses to requests that it cannot route, because they have no request id. */
function refusedByFramework(context: RequestContext, { method, url }: Request, parts: AppParts): Response {
  const { requestId } = context
  const body = errorBody(
    'invalid_path',
    'The request URL is malformed. Send a path such as /v1/checks.',
    requestId,
  )
  const headers = { ...jsonHeaders, 'x-request-id': requestId }
  void addToLog(parts, { method, path: url }, context, { status: 400, body })
  parts.onRequest?.(answered({ method, path: url }, context, { status: 400 }))
  const published = { request: { method, path: url, body: null }, status: 400, headers, body }
  if (answers.hasSubscribers) answers.publish(published satisfies PublishedAnswer)
  return new Response(body, { status: 400, headers })
}

/**
 * Logs an answered request, without headers, and without the response body of a route with `hidesResponse`. A bug of the
 * log is reported, and changes no answer.
 */
async function addToLog(
  { log, report }: Pick<AppParts, 'log' | 'report'>,
  { method, path }: RequestLine,
  context: RequestContext,
  { status, body }: HttpResponse,
): Promise<void> {
  try {
    await log.add({
      id: context.requestId,
      method,
      path,
      status,
      started_at: context.startedAt.toISOString(),
      duration_ms: durationOf(context),
      ...(context.trace === undefined ? {} : { trace_id: traceIdOf(context.trace) }),
      location_id: context.locationId,
      push: context.push,
      request_body: context.requestBody,
      response_body: typeof body === 'string' && !context.hidesResponse ? body : null,
      ...(context.faults === undefined ? {} : { faults: context.faults }),
    })
  } catch (bug) {
    report(bug, context.requestId)
  }
}

const noSniff = { 'x-content-type-options': 'nosniff' }
const jsonHeaders = { 'content-type': 'application/json; charset=utf-8', ...noSniff }

/** Responds in any case, and logs the request. */
function createRespond(parts: AppParts): Respond {
  return async (event, handle) => {
    const context = event.context.request as RequestContext
    const answer = await answerOf(event, context, parts, handle)
    context.answered = true
    const { pathname, search } = event.url
    // Calls of the simulator are not logged. Calls of tools are logged as the requests that they cause.
    if (!/^\/(_sim\/|mcp$|assets\/|docs(\/|$)|openapi\.json$|llms\.txt$|$)/.test(pathname))
      await addToLog(parts, { method: event.req.method, path: pathname + search }, context, answer)
    parts.onRequest?.(answered({ method: event.req.method, path: pathname }, context, answer))
    const headers = headersOf(context, answer)
    // An open connection would delay the shutdown, and its next request would be refused.
    const isEnding = parts.lifecycle.phase !== 'running' && isLast(event, context)
    const { body, status } = answer
    if (isEnding || (status >= 400 && hasUnreadLongBody(event.req, parts.bodyLimit)))
      Object.assign(headers, { connection: 'close' })
    if (answers.hasSubscribers) {
      const line = { method: event.req.method, path: pathname + search, body: context.requestBody }
      // A timeout of the body concerns the connection, not an operation.
      const request = status === statusOf.request_timeout ? null : line
      answers.publish({ request, status, headers, body } satisfies PublishedAnswer)
    }
    const isComplete = typeof body === 'string' || body instanceof Uint8Array
    // For HEAD, h3 drops the body, and does not cancel a stream.
    const isHead = event.req.method === 'HEAD'
    if (isHead && isComplete) headers['content-length'] = String(Buffer.byteLength(body))
    if (isHead && body instanceof ReadableStream) void body.cancel()
    // Not h3's HTTPResponse: its Headers object costs as much as routing.
    return isComplete
      ? new CompleteResponse(body, status, headers)
      : new FastResponse(isHead ? null : body, { status, headers })
  }
}

function headersOf({ requestId }: RequestContext, { body, headers }: HttpResponse): Record<string, string> {
  const usual = body === null ? noSniff : jsonHeaders
  return Object.assign({ 'x-request-id': requestId }, usual, headers)
}

const latest = new WeakMap<object, RequestContext>()

/** Returns true when no further request has arrived on the connection, so that it can be closed. */
function isLast({ req }: H3Event, context: RequestContext): boolean {
  const socket = nodeOf(req).req?.socket
  return socket === undefined || latest.get(socket) === context
}

async function answerOf(
  event: H3Event,
  context: RequestContext,
  { checkOrigin, faults, report }: AppParts,
  handle: Handle,
): Promise<HttpResponse> {
  try {
    checkOrigin(event.req)
    const reply = await (faults?.areSet === true ? faults.around(event, context, handle) : handle())
    return 'json' in reply ? { status: reply.status, body: JSON.stringify(reply.json) } : reply
  } catch (error) {
    return answerTo(error, context.requestId, (bug) => {
      // An aborted request is not a bug. A call in this process may have a reason of its own.
      const isAborted = (bug instanceof Error && bug.name === 'AbortError') || bug === event.req.signal.reason
      if (!isAborted) report(bug, context.requestId)
    })
  }
}

/** A sent response with its request; `request` is `null` when it was refused before routing, or its body timed out. */
export interface PublishedAnswer {
  request: { method: string; path: string; body: string | null } | null
  status: number
  headers: Readonly<Record<string, string>>
  body: HttpResponse['body']
}

/**
 * Node's diagnostics channel of all responses, for tools that trace or test services in the same process. Without
 * subscribers nothing is published.
 */
const answers = channel('tabwire:answer')
