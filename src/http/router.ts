import { H3, type H3Event, type HTTPMethod } from 'h3'
import type { ApiKey } from '../model/api-key.ts'
import { Refusal } from '../model/refusal.ts'
import { NO_SUCH_PATH } from '../model/simulator/request-entry.ts'
import { requireScope } from './auth/api-key.ts'
import { readChunks, readJson } from './body.ts'
import { requireDecodable, requireKnownNames } from './list.ts'
import { goneSignal, nodeOf } from './node-request.ts'
import type { RequestContext } from './request-context.ts'
import type { Call, Handle, Reply, Route } from './route.ts'
import type { Identify } from './auth/sessions.ts'

/**
 * Phase of a service. While it drains, it handles requests, but clients should use other connections or another
 * instance. While it stops, it refuses them.
 */
export type Phase = 'running' | 'draining' | 'stopping'

export interface RoutingParts {
  identify: Identify
  /** Does the same for routes `withoutDatabase`. */
  identifyFromMemory: Identify
  /** Counts a request of a known key. @throws Refusal `rate_limited`. */
  limit: ((key: ApiKey) => Promise<void>) | undefined
  /** Limit of a body in bytes. */
  bodyLimit: number
  lifecycle: { readonly phase: Phase }
  /** Refuses unknown query names. */
  strictQuery: boolean
}

/** Runs a handler: sends its reply, or the refusal that it throws. */
export type Respond = (event: H3Event, handle: Handle) => unknown

/**
 * Adds a route table under a base path. Checks run in the order of contract section 2: key, path and method, scope,
 * parameters, body.
 */
export function addRoutes(
  h3: H3,
  base: string,
  routes: readonly Route[],
  respond: Respond,
  parts: RoutingParts,
): void {
  for (const route of routes)
    for (const method of methodsOf(route))
      h3.on(method, base + route.path, (event) => respond(event, () => follow(route, event, parts)))
  for (const [path, allow] of allowedMethods(routes))
    h3.all(base + path, (event) =>
      respond(event, async () => {
        await keyOf(event, parts, parts.identify)
        requireExactPath(event)
        throw methodNotAllowed(event.req.method, allow)
      }),
    )
  h3.all(`${base}/**`, (event) =>
    respond(event, async () => {
      await keyOf(event, parts, parts.identify)
      requireExactPath(event)
      throw notFound(event)
    }),
  )
}

/** Adds a table that is loaded at the first request below its base path: most services never need it. */
export function addLateRoutes(
  h3: H3,
  base: string,
  load: () => Promise<readonly Route[]>,
  respond: Respond,
  parts: RoutingParts,
): void {
  let table: Promise<H3> | undefined
  const open = async () => {
    const late = new H3()
    addRoutes(late, base, await load(), respond, parts)
    return late
  }
  const handle = async (event: H3Event) => {
    const late = await (table ??= open()).catch((error: unknown) => error)
    if (late instanceof H3) return late.handler(event)
    // Loaded again for the next request: without a free file descriptor, for example, a load fails only for a time.
    table = undefined
    return respond(event, () => {
      throw late
    })
  }
  h3.all(base, handle)
  h3.all(`${base}/**`, handle)
}

export function notFound(event: H3Event): Refusal {
  const { pathname } = event.url
  const advice =
    pathname !== '/' && pathname.endsWith('/')
      ? 'Paths do not end with a slash.'
      : /^\/v1\/checks\/external\/[^/]+\//.test(pathname)
        ? 'Write a slash in an id as %2F. A proxy that decodes it must pass the path on unchanged.'
        : 'The API is under /v1; /docs lists its paths.'
  return new Refusal('not_found', `${NO_SUCH_PATH}${pathname.slice(0, 200)}. ${advice}`)
}

/** `HEAD` works wherever `GET` does. */
function methodsOf({ method }: Route): readonly HTTPMethod[] {
  return method === 'GET' ? ['GET', 'HEAD'] : [method]
}

function allowedMethods(routes: readonly Route[]): Map<string, string> {
  const allowed = new Map<string, string>()
  for (const route of routes) {
    const before = allowed.get(route.path)
    const methods = [...(before === undefined ? [] : [before]), ...methodsOf(route)]
    allowed.set(route.path, methods.join(', '))
  }
  return allowed
}

function methodNotAllowed(method: string, allow: string): Refusal {
  return new Refusal('method_not_allowed', `${method} is not allowed for this path. Use ${allow}.`, { allow })
}

export const SHUTTING_DOWN = 'The service is shutting down. Retry after the next start.'

/** Caller of routes without a key. */
export const anonymous: ApiKey = {
  id: '',
  hash: '',
  name: '',
  scopes: [],
  location_id: '',
  created_at: '',
  revoked_at: null,
}

/** Returns the key of a request, and notes its location for the log. @throws Refusal `unauthorized` or `rate_limited`. */
async function keyOf(event: H3Event, { limit }: RoutingParts, identify: Identify): Promise<ApiKey> {
  const key = await identify(event.req)
  if (key === anonymous) return key
  const context = event.context.request as RequestContext
  context.locationId = key.location_id
  await limit?.(key)
  return key
}

async function follow(route: Route, event: H3Event, parts: RoutingParts): Promise<Reply> {
  const identify = route.withoutDatabase === true ? parts.identifyFromMemory : parts.identify
  const key = route.scope === null ? anonymous : await keyOf(event, parts, identify)
  const context = event.context.request as RequestContext
  requireExactPath(event)
  if (route.keyOnly === true) requireKeyItself(event)
  if (route.scope !== null) requireScope(key, route.scope)
  if (route.query !== undefined) requireDecodable(event.url.search)
  if (parts.strictQuery) requireKnownNames(event.url.searchParams, route)
  if (parts.lifecycle.phase === 'stopping' && route.whileStopping !== true)
    throw new Refusal('shutting_down', SHUTTING_DOWN)
  context.hidesResponse = route.hidesResponse ?? false
  return route.handle(callOf(event, key, context, parts.bodyLimit))
}

/** Requires an API key; a caller without the header has a session. @throws Refusal `unauthorized`. */
function requireKeyItself({ req }: H3Event): void {
  if (req.headers.has('authorization')) return
  throw new Refusal(
    'unauthorized',
    'This request needs an API key: inspector sessions cannot manage keys or the whole state. Send the header Authorization: Bearer <API_KEY>, or use tabwire keys and tabwire state.',
  )
}

function callOf(event: H3Event, key: ApiKey, context: RequestContext, bodyLimit: number): Call {
  const { req } = event
  return {
    key,
    params: decoded(event.context.params),
    query: event.url.searchParams,
    request: req,
    trace: context.trace,
    gone: () => goneSignal(req),
    header: (name) => req.headers.get(name),
    body: () => readJson(req, bodyLimit, (text) => (context.requestBody = text)),
    chunks: (limit, take) => readChunks(req, limit, take),
    note: (push) => void (context.push = push),
  }
}

/**
 * Decodes path parameters, which h3 passes undecoded. Requires an external check id to have 1 to 255 characters, and no
 * control character (contract section 4).
 */
function decoded(raw: Readonly<Record<string, string>> = {}): Record<string, string> {
  const params: Record<string, string> = {}
  for (const name in raw) {
    try {
      params[name] = decodeURIComponent(raw[name] ?? '')
    } catch {
      throw new Refusal(
        'invalid_path',
        `${name} contains a malformed percent-escape. Encode each UTF-8 byte as %XX.`,
      )
    }
  }
  const { external_check_id: id } = params
  if (id === undefined) return params
  // Counts characters like bodies do: a surrogate pair is one character.
  const isShort = id.length <= 255 || Array.from(id).length <= 255
  if (id === '' || !isShort || /\p{Cc}/u.test(id))
    throw new Refusal(
      'invalid_path',
      'external_check_id must have 1 to 255 characters and no control characters.',
    )
  return params
}

/** Refuses final slashes, which the router ignores, and dot segments, which URLs resolve: both would change the check id. */
function requireExactPath(event: H3Event): void {
  const raw = nodeOf(event.req).req?.url
  const [rawPath = ''] = raw?.split('?', 1) ?? []
  if (/\/(?:\.|%2e){1,2}(?=[/#]|$)/i.test(rawPath))
    throw new Refusal(
      'invalid_path',
      'The path contains a dot segment (. or ..), which servers resolve differently. Remove it.',
    )
  const { pathname } = event.url
  // An unparsable URL also becomes `/`.
  const isRoot = pathname === '/' && /^\/(?=\?|$)/.test(raw ?? '/')
  if (pathname.endsWith('/') && !isRoot) throw notFound(event)
}
