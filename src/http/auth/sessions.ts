import { createHash } from 'node:crypto'
import type { ApiKey } from '../../model/api-key.ts'
import { Refusal } from '../../model/refusal.ts'
import type { Service } from '../../service.ts'
import { keyOfHash, type Authenticate } from './api-key.ts'

/**
 * Sessions let a browser act for an API key without storing it. A one-time code is exchanged for two secrets. The token
 * is in a cookie, which the browser sends to every port of the host. The page sends the other as a header, so the cookie
 * is useless without it. Secrets are stored as hashes, in memory only, until the service stops.
 */
export interface Sessions {
  /** Creates a one-time code. `keyHash` is the hash of the key that the session acts for. */
  invite(keyHash: string): string
  /** Returns the secrets of a new session; `undefined` when the code is unknown, used or expired. */
  begin(code: string): SessionSecrets | undefined
  /** Returns the hash of the key that a session acts for. */
  keyOf(secrets: SessionSecrets): string | undefined
  end(secrets: SessionSecrets): void
}

/** The two secrets of a session. */
export interface SessionSecrets {
  /** Stored in the cookie. */
  token: string
  /** Stored by the page and sent in {@link PAGE_HEADER}. */
  pageSecret: string
}

/** Header with the page's secret. */
export const PAGE_HEADER = 'x-tabwire-page'

interface SessionParts {
  /** Returns an unpredictable token, also in a seeded run. */
  newToken: () => string
  /** Monotonic clock in milliseconds. */
  measure: () => number
}

/** Lifetime of a code in seconds: enough to switch windows, too short to be useful in a scrollback. */
export const CODE_SECONDS = 600

/** Limit of codes and of sessions; the oldest are dropped. */
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

/** Returns the hash of a secret. A lookup by hash leaks nothing through timing. */
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

/** The parts of a request that identify the caller. */
export type Asking = Pick<Request, 'method' | 'headers'>

/** Returns the key that a request acts for. @throws Refusal when there is none. */
export type Identify = (request: Asking) => Promise<ApiKey>

/** Returns the cookie name. It contains the port, because all ports of a host share cookies. */
function nameOf(headers: Headers): string {
  return `tabwire_session_${/:(\d+)$/.exec(headers.get('host') ?? '')?.[1] ?? 'default'}`
}

/** Returns the token of the cookie. */
function sessionToken(headers: Headers): string | undefined {
  const pairs = (headers.get('cookie') ?? '').split('; ').map((pair) => pair.split('='))
  return pairs.find(([name]) => name === nameOf(headers))?.[1]
}

/** Returns both secrets of a request; empty texts for missing ones. */
export function sessionSecrets(headers: Headers): SessionSecrets {
  return { token: sessionToken(headers) ?? '', pageSecret: headers.get(PAGE_HEADER) ?? '' }
}

/** Returns `Set-Cookie` for a session or its end. The path `/_sim` hides it from most other servers on this host. */
export function sessionCookie(headers: Headers, token: string | undefined, secure: boolean): string {
  const value = `${nameOf(headers)}=${token ?? ''}; Path=/_sim; HttpOnly; SameSite=Strict`
  return `${value}${secure ? '; Secure' : ''}${token === undefined ? '; Max-Age=0' : ''}`
}

/**
 * Returns true when the browser reports a request of this service's own page. Pages on other ports of the host count as
 * same-site and send the cookie. Without such headers (plain HTTP beyond loopback), other pages can send but not read.
 */
export function isOwnPage({ method, headers }: Asking): boolean {
  const [site, origin] = [headers.get('sec-fetch-site'), headers.get('origin')]
  if (site !== null && site !== 'same-origin') return false
  if (origin !== null) return origin.replace(/^https?:\/\//, '') === headers.get('host')
  return site !== null || method === 'GET' || method === 'HEAD'
}

/** Returns the key of a session, if the request comes from the service's own page with both secrets. */
export async function keyOfSession(
  service: Pick<Service, 'find'>,
  sessions: Pick<Sessions, 'keyOf'>,
  request: Asking,
): Promise<ApiKey | undefined> {
  const hash = isOwnPage(request) ? sessions.keyOf(sessionSecrets(request.headers)) : undefined
  return hash === undefined ? undefined : keyOfHash(service, hash)
}

/** Identifies a caller by the key in the header, or otherwise by the session. */
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
      throw new Refusal(
        'forbidden_origin',
        'A session works only on pages of this service. Use an API key elsewhere.',
      )
    const key = await keyOfSession(service, sessions, request)
    if (key !== undefined) return key
    throw new Refusal('unauthorized', 'The session has ended. Run tabwire open for a new link.')
  }
}
