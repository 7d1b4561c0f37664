import { Refusal } from '../../model/refusal.ts'
import { invalid } from '../../model/validation.ts'
import type { Service } from '../../service.ts'
import { created, ok, type Call, type Reply, type Route } from '../route.ts'
import { isOwnPage, keyOfSession, sessionCookie, sessionSecrets } from '../auth/session-cookie.ts'
import { CODE_SECONDS, type Sessions } from '../auth/sessions.ts'

export interface SessionRouteParts {
  service: Pick<Service, 'get' | 'find'>
  sessions: Sessions
  /** The URL of the service as a browser can open it. */
  url: () => string
  /** Names the signature header. */
  serviceName: string
}

/** Routes that give the inspector's page a session, by a link that a caller with an API key makes. */
export function sessionRoutes(parts: SessionRouteParts): Route[] {
  const { sessions } = parts
  return [
    {
      method: 'POST',
      path: '/inspector-links',
      scope: 'simulate',
      secret: true,
      keyOnly: true,
      // The code alone: the caller knows the address at which it reached the service.
      handle: ({ key }) => created({ code: sessions.invite(key.hash), expires_in_seconds: CODE_SECONDS }),
    },
    {
      method: 'POST',
      path: '/session',
      scope: null,
      secret: true,
      handle: async (call) => begin(parts, call, codeOf(await call.body())),
    },
    { method: 'GET', path: '/session', scope: null, handle: (call) => show(parts, call) },
    { method: 'DELETE', path: '/session', scope: 'simulate', handle: (call) => end(parts, call) },
  ]
}

function codeOf(body: unknown): string {
  const { code } = (typeof body === 'object' && body !== null ? body : {}) as { code?: unknown }
  if (typeof code === 'string') return code
  throw invalid([{ path: 'code', message: 'must be the code of a link that tabwire open made' }])
}

function begin({ sessions, url }: SessionRouteParts, { request }: Call, code: string): Reply {
  if (!isOwnPage(request))
    throw new Refusal('forbidden_origin', 'A session begins on the page of this service alone.')
  const secrets = sessions.begin(code)
  if (secrets === undefined)
    throw new Refusal(
      'unauthorized',
      'This link was used already, or is too old. tabwire open makes a new one.',
    )
  const cookie = sessionCookie(request.headers, secrets.token, url().startsWith('https:'))
  const body = JSON.stringify({ page_secret: secrets.pageSecret })
  return { status: 201, headers: { 'set-cookie': cookie, 'cache-control': 'no-store' }, body }
}

/** What the page needs to know of the service; `session` is `null` for a caller without one. */
async function show(
  { service, sessions, serviceName }: SessionRouteParts,
  { request }: Call,
): Promise<Reply> {
  const key = await keyOfSession(service, sessions, request)
  if (key === undefined) return ok({ session: null })
  const location = await service.get('locations', key.location_id)
  return ok({ session: { service_name: serviceName, location: location ?? null } })
}

function end({ sessions, url }: SessionRouteParts, { request }: Call): Reply {
  sessions.end(sessionSecrets(request.headers))
  const cookie = sessionCookie(request.headers, undefined, url().startsWith('https:'))
  return { status: 204, headers: { 'set-cookie': cookie }, body: null }
}
