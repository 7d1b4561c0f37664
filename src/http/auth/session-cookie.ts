import type { ApiKey } from '../../model/api-key.ts'
import { Refusal } from '../../model/refusal.ts'
import type { Service } from '../../service.ts'
import { keyOfHash, type Authenticate } from './api-key.ts'
import { PAGE_HEADER, type Sessions, type SessionSecrets } from './sessions.ts'

/** What identifies the caller. */
export type Asking = Pick<Request, 'method' | 'headers'>

/** Finds the key that a request acts for. @throws Refusal when there is none. */
export type Identify = (request: Asking) => Promise<ApiKey>

/** Cookies are shared by all ports of a host, so each service has a name of its own. */
function nameOf(headers: Headers): string {
  return `tabwire_session_${/:(\d+)$/.exec(headers.get('host') ?? '')?.[1] ?? 'default'}`
}

/** The token that the browser's cookie holds. */
function sessionToken(headers: Headers): string | undefined {
  const pairs = (headers.get('cookie') ?? '').split('; ').map((pair) => pair.split('='))
  return pairs.find(([name]) => name === nameOf(headers))?.[1]
}

/** Both secrets of a session as a request shows them; empty where it has none. */
export function sessionSecrets(headers: Headers): SessionSecrets {
  return { token: sessionToken(headers) ?? '', pageSecret: headers.get(PAGE_HEADER) ?? '' }
}

/** `Set-Cookie` for a session, or for the end of one. It goes to `/_sim` alone: another server on this host need not see it. */
export function sessionCookie(headers: Headers, token: string | undefined, secure: boolean): string {
  const value = `${nameOf(headers)}=${token ?? ''}; Path=/_sim; HttpOnly; SameSite=Strict`
  return `${value}${secure ? '; Secure' : ''}${token === undefined ? '; Max-Age=0' : ''}`
}

/**
 * Whether a browser says that a page of this very service asks. Pages on other ports of the same host are of the same
 * site, and bring the cookie along. Where a browser says nothing (plain HTTP to another address than loopback), a page
 * elsewhere could ask but not read.
 */
export function isOwnPage({ method, headers }: Asking): boolean {
  const [site, origin] = [headers.get('sec-fetch-site'), headers.get('origin')]
  if (site !== null && site !== 'same-origin') return false
  if (origin !== null) return origin.replace(/^https?:\/\//, '') === headers.get('host')
  return site !== null || method === 'GET' || method === 'HEAD'
}

/** The key that a session acts for, when a page of this service asks, holds its secret, and the session is there. */
export async function keyOfSession(
  service: Pick<Service, 'find'>,
  sessions: Pick<Sessions, 'keyOf'>,
  request: Asking,
): Promise<ApiKey | undefined> {
  const hash = isOwnPage(request) ? sessions.keyOf(sessionSecrets(request.headers)) : undefined
  return hash === undefined ? undefined : keyOfHash(service, hash)
}

/** By the key in the header, or without one by the session of a page of this service. */
export function byKeyOrSession(
  service: Pick<Service, 'find'>,
  authenticate: Authenticate,
  sessions: Pick<Sessions, 'keyOf'>,
): Identify {
  return async (request) => {
    const { headers } = request
    const token = headers.has('authorization') ? undefined : sessionToken(headers)
    if (token === undefined) return authenticate(headers.get('authorization'))
    if (!isOwnPage(request))
      throw new Refusal('forbidden_origin', 'A session acts for pages of this service alone.')
    const key = await keyOfSession(service, sessions, request)
    if (key !== undefined) return key
    throw new Refusal('unauthorized', 'This session is over. tabwire open makes a new one.')
  }
}
