import { H3, type H3Event } from 'h3'
import type { ApiKey } from '../model/api-key.ts'
import { Refusal } from '../model/refusal.ts'
import type { NewId } from '../operations/operation.ts'
import type { Service } from '../service.ts'
import { createAuthenticate, requireScope, type Authenticate } from './auth.ts'
import { readJson } from './body.ts'
import { decodeParam } from './query.ts'
import { answerTo, type Answer } from './refusals.ts'
import type { LoggedRequest, PushNote, RequestLog } from './request-log.ts'
import type { Call, Reply, Route } from './route.ts'

export interface AppParts {
  service: Service
  log: RequestLog
  newId: NewId
  now: () => Date
  /** The route tables, by the path that they stand under. */
  tables: Readonly<Record<string, readonly Route[]>>
  /** Throws when a request comes from where none may (contract section 10). */
  checkOrigin: (headers: Headers) => void
  /** The longest body in bytes. */
  bodyLimit: number
  /** Whether the service is stopping and takes nothing new. */
  isStopping: () => boolean
  /** Told of every bug that had to be answered with 500. */
  report: (bug: unknown, requestId: string) => void
}

/** The door as a function from request to response; Node's server and the tests call the same one. */
export interface App {
  fetch: (request: Request) => Promise<Response>
}

/** What h3 carries along with a request of ours. */
interface Visit {
  requestId: string
  startedAt: Date
  started: number
  answered: boolean
  push: PushNote | null
  requestBody: string | null
  secret: boolean
}

/**
 * Builds the HTTP door: `X-Request-Id` and the log around h3; inside, for each route: key, scope, parameters, handler;
 * whatever is thrown becomes the one error shape (contract section 4).
 */
export function createApp(parts: AppParts): App {
  const h3 = new H3({ debug: false, silent: true, allowMalformedURL: true })
  const authenticate = createAuthenticate(parts.service)
  for (const [base, routes] of Object.entries(parts.tables)) addTable(h3, base, routes, parts, authenticate)
  h3.all('/**', (event) => respond(event, parts, () => notFound(event)))
  return {
    async fetch(request) {
      const visit = newVisit(parts)
      const response = await h3.request(request, undefined, { visit })
      // h3 answers some malformed URLs before any handler of ours sees them.
      return visit.answered ? response : refuseMalformed(request, visit, parts, authenticate)
    },
  }
}

function newVisit({ newId, now }: AppParts): Visit {
  return {
    requestId: newId('req'),
    startedAt: now(),
    started: performance.now(),
    answered: false,
    push: null,
    requestBody: null,
    secret: false,
  }
}

/** A URL with a malformed escape, which comes after origin and key like everything else that is wrong with a request. */
async function refuseMalformed(
  request: Request,
  visit: Visit,
  parts: AppParts,
  authenticate: Authenticate,
): Promise<Response> {
  const answer = await answerOf(request, visit, parts, async () => {
    await authenticate(request.headers.get('authorization'))
    throw new Refusal(
      'invalid_path',
      'The URL of the request is malformed. Encode it as UTF-8, each byte as %XX.',
    )
  })
  const { pathname, search } = new URL(request.url)
  if (isLogged(pathname))
    parts.log.add(entryOf({ method: request.method, path: pathname + search }, visit, answer))
  const headers = { ...jsonHeaders, ...answer.headers, 'x-request-id': visit.requestId }
  return new Response(answer.body, { status: answer.status, headers })
}

function addTable(
  h3: H3,
  base: string,
  routes: readonly Route[],
  parts: AppParts,
  authenticate: Authenticate,
): void {
  for (const route of routes) {
    const methods = route.method === 'GET' ? (['GET', 'HEAD'] as const) : [route.method]
    for (const method of methods)
      h3.on(method, base + route.path, (event) =>
        respond(event, parts, () => follow(route, event, parts, authenticate)),
      )
  }
  for (const [path, allow] of allowedMethods(routes))
    h3.all(base + path, (event) => respond(event, parts, () => refuseMethod(event, allow, authenticate)))
  h3.all(`${base}/**`, (event) =>
    respond(event, parts, async () => {
      await authenticate(event.req.headers.get('authorization'))
      return notFound(event)
    }),
  )
}

function allowedMethods(routes: readonly Route[]): Map<string, string> {
  const allowed = new Map<string, string>()
  for (const { path, method } of routes) {
    const more = method === 'GET' ? 'GET, HEAD' : method
    const before = allowed.get(path)
    allowed.set(path, before === undefined ? more : `${before}, ${more}`)
  }
  return allowed
}

const nobody: ApiKey = {
  id: '',
  hash: '',
  name: '',
  scopes: [],
  location_id: '',
  created_at: '',
  revoked_at: null,
}

async function follow(
  route: Route,
  event: H3Event,
  parts: AppParts,
  authenticate: Authenticate,
): Promise<Reply> {
  const key = route.scope === null ? nobody : await authenticate(event.req.headers.get('authorization'))
  if (route.scope !== null) requireScope(key, route.scope)
  if (parts.isStopping())
    throw new Refusal('shutting_down', 'The service is stopping. Try again when it is back.')
  visitOf(event).secret = route.secret ?? false
  return route.handle(callOf(event, key, parts.bodyLimit))
}

function callOf(event: H3Event, key: ApiKey, bodyLimit: number): Call {
  const visit = visitOf(event)
  const params = Object.entries(event.context.params ?? {})
  return {
    key,
    params: Object.fromEntries(params.map(([name, raw]) => [name, decodeParam(name, raw)])),
    query: event.url.searchParams,
    async body() {
      const { text, value } = await readJson(event.req, bodyLimit)
      visit.requestBody = text
      return value
    },
    note: (push) => {
      visit.push = push
    },
  }
}

function notFound(event: H3Event): never {
  throw new Refusal(
    'not_found',
    `There is nothing at ${event.url.pathname.slice(0, 200)}. The API is under /v1.`,
  )
}

async function refuseMethod(event: H3Event, allow: string, authenticate: Authenticate): Promise<never> {
  await authenticate(event.req.headers.get('authorization'))
  throw new Refusal('method_not_allowed', `${event.req.method} is not possible here; ${allow} is.`, { allow })
}

const jsonHeaders = { 'content-type': 'application/json; charset=utf-8', 'x-content-type-options': 'nosniff' }

/** Runs a handler and answers, whatever comes of it; then the request is in the log. */
async function respond(event: H3Event, parts: AppParts, handle: () => Promise<Reply> | Reply) {
  const visit = visitOf(event)
  const answer = await answerOf(event.req, visit, parts, handle)
  const headers = event.res.headers
  for (const [name, value] of Object.entries({ ...jsonHeaders, ...answer.headers })) headers.set(name, value)
  headers.set('x-request-id', visit.requestId)
  event.res.status = answer.status
  visit.answered = true
  const { pathname, search } = event.url
  if (isLogged(pathname))
    parts.log.add(entryOf({ method: event.req.method, path: pathname + search }, visit, answer))
  return answer.body
}

/** Looking at the log is not part of what is looked at. */
function isLogged(pathname: string): boolean {
  return !pathname.startsWith('/_sim/')
}

async function answerOf(
  { headers }: Pick<Request, 'headers'>,
  { requestId }: Visit,
  parts: AppParts,
  handle: () => Promise<Reply> | Reply,
): Promise<Answer> {
  try {
    parts.checkOrigin(headers)
    const reply = await handle()
    return 'json' in reply ? { status: reply.status, body: JSON.stringify(reply.json) } : reply
  } catch (error) {
    return answerTo(error, requestId, (bug) => parts.report(bug, requestId))
  }
}

function entryOf(
  request: Pick<LoggedRequest, 'method' | 'path'>,
  visit: Visit,
  { status, body }: Answer,
): LoggedRequest {
  return {
    id: visit.requestId,
    ...request,
    status,
    started_at: visit.startedAt.toISOString(),
    duration_ms: Math.round((performance.now() - visit.started) * 10) / 10,
    push: visit.push,
    request_body: visit.requestBody,
    response_body: typeof body === 'string' && !visit.secret ? body : null,
  }
}

function visitOf(event: H3Event): Visit {
  return event.context.visit as Visit
}
