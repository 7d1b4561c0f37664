import { createHash } from 'node:crypto'
import type { ApiKey } from '../../model/api-key.ts'
import { Refusal } from '../../model/refusal.ts'
import type { Service } from '../../service.ts'
import { keyOfHash, type Authenticate } from './api-key.ts'

/**
 * How a browser acts for an API key without ever holding it: a code, good once and for a short time, is exchanged for two
 * secrets. A cookie holds the token, which the browser sends to every port of the host; the page holds the other and sends
 * it as a header, so the cookie alone is good for nothing. All are in memory alone, as hashes, and end with the service.
 */
export interface Sessions {
  /** A code for one exchange. `keyHash` is that of the key that the session will act for. */
  invite(keyHash: string): string
  /** The secrets of a new session; `undefined` when the code is none, was used, or is too old. */
  begin(code: string): SessionSecrets | undefined
  /** The hash of the key that the session with both secrets acts for. */
  keyOf(secrets: SessionSecrets): string | undefined
  end(secrets: SessionSecrets): void
}

/** The two secrets of a session. */
export interface SessionSecrets {
  /** Held by the cookie. */
  token: string
  /** Held by the page, and sent in {@link PAGE_HEADER}. */
  pageSecret: string
}

/** The header in which the page sends the secret that it holds. */
export const PAGE_HEADER = 'x-tabwire-page'

interface SessionParts {
  /** A random token that cannot be guessed, also in a seeded run. */
  newToken: () => string
  /** Milliseconds of real time, from any start on. */
  measure: () => number
}

/** Seconds within which a code must be exchanged: long enough to change windows, too short to be found in a scrollback. */
export const CODE_SECONDS = 600

/** As many codes and sessions as one person has; the oldest leave. */
const MOST = 100

export function createSessions({ newToken, measure }: SessionParts): Sessions {
  const codes = new Map<string, { keyHash: string; until: number }>()
  const sessions = new Map<string, string>()
  return {
    invite(keyHash) {
      const code = newToken()
      keep(codes, digest(code), { keyHash, until: measure() + CODE_SECONDS * 1_000 })
      return code
    },
    begin(code) {
      const found = codes.get(digest(code))
      codes.delete(digest(code))
      if (found === undefined || measure() > found.until) return undefined
      const secrets = { token: newToken(), pageSecret: newToken() }
      keep(sessions, keyed(secrets), found.keyHash)
      return secrets
    },
    keyOf: (secrets) => sessions.get(keyed(secrets)),
    end: (secrets) => void sessions.delete(keyed(secrets)),
  }
}

/** Looked up by its hash, a secret tells nothing by the time that it takes. */
function digest(secret: string): string {
  return createHash('sha256').update(secret).digest('base64url')
}

function keyed({ token, pageSecret }: SessionSecrets): string {
  return digest(`${token} ${pageSecret}`)
}

function keep<T>(map: Map<string, T>, key: string, value: T): void {
  map.set(key, value)
  const [oldest] = map.keys()
  if (map.size > MOST && oldest !== undefined) map.delete(oldest)
}

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
