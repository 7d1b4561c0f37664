import { hash } from 'node:crypto'
import type { ApiKey } from '../../model/api-key.ts'
import { Refusal } from '../../model/refusal.ts'
import type { Service, SharedValues } from '../../service.ts'
import { keyOfHash, type Authenticate } from './api-key.ts'

/**
 * Sessions let a browser act for an API key without storing it. A one-time code is exchanged for two secrets. The token
 * is in a cookie, which the browser sends to every port of the host. The page sends the other as a header, so the cookie
 * is useless without it. Secrets are stored as hashes: in memory until the service stops, or in the sandbox, so that a
 * browser may reach any instance.
 */
export interface Sessions {
  /** Creates a one-time code. `keyHash` is the hash of the key that the session acts for. */
  invite(keyHash: string): Invitation
  /** Resolves with the secrets of a new session; with `undefined` when the code is unknown, used or expired. */
  begin(code: string): Promise<SessionSecrets | undefined>
  /** Resolves with the hash of the key that a session acts for. */
  keyHashOf(secrets: SessionSecrets): Promise<string | undefined>
  end(secrets: SessionSecrets): Promise<void>
}

interface Invitation {
  code: string
  /** Resolves when the code is stored. */
  stored: Promise<void>
}

/** The two secrets of a session. */
interface SessionSecrets {
  /** Stored in the cookie. */
  token: string
  /** Stored by the page and sent in {@link PAGE_HEADER}. */
  pageSecret: string
}

/** Header with the page's secret. */
const PAGE_HEADER = 'x-tabwire-page'

interface SessionParts {
  values: SharedValues
  /** Returns an unpredictable token, also in a seeded run. */
  newToken: () => string
  /** Clock in milliseconds, which all instances share. */
  measure: () => number
  /** Lifetime of a session in milliseconds. */
  lifetimeMs?: number
}

/** Lifetime of a code in seconds: enough to switch windows, too short to be useful in a scrollback. */
export const CODE_SECONDS = 600

/** Limit of codes and of sessions; the oldest are dropped. */
const MOST = 100

/** Keys of the values. */
const CODES = 'inspector_codes'
const SESSIONS = 'inspector_sessions'

/** A code or a session, stored under the hash of its secret. */
interface Entry {
  secret: string
  key_hash: string
  /** `null` when it does not expire. */
  until: number | null
}

export function createSessions({ values, newToken, measure, lifetimeMs }: SessionParts): Sessions {
  const isGood = ({ until }: Entry) => until === null || measure() <= until

  /** Changes the entries of a value; the expired and the oldest ones are dropped. */
  function change<Reply>(
    key: string,
    to: (entries: readonly Entry[]) => { entries: readonly Entry[]; reply: Reply },
  ): Promise<Reply> {
    return values.update(key, (value) => {
      const { entries, reply } = to(entriesOf(value).filter(isGood))
      return { value: entries.slice(-MOST).map((entry) => ({ ...entry })), reply }
    })
  }

  /** Removes the entry of a secret, and resolves with it. */
  const take = (key: string, secret: string) =>
    change(key, (entries) => ({
      entries: entries.filter((entry) => entry.secret !== secret),
      reply: entries.find((entry) => entry.secret === secret),
    }))

  const add = (key: string, entry: Entry) =>
    change(key, (entries) => ({ entries: [...entries, entry], reply: undefined }))

  return {
    invite(key_hash) {
      const code = newToken()
      const entry = { secret: digest(code), key_hash, until: measure() + CODE_SECONDS * 1_000 }
      return { code, stored: add(CODES, entry) }
    },
    async begin(code) {
      const found = await take(CODES, digest(code))
      if (found === undefined) return undefined
      const secrets = { token: newToken(), pageSecret: newToken() }
      const until = lifetimeMs === undefined ? null : measure() + lifetimeMs
      await add(SESSIONS, { secret: digestOfBoth(secrets), key_hash: found.key_hash, until })
      return secrets
    },
    // A transaction, since another instance may have begun or ended the session just now.
    keyHashOf: (secrets) =>
      change(SESSIONS, (entries) => {
        const secret = digestOfBoth(secrets)
        return { entries, reply: entries.find((entry) => entry.secret === secret)?.key_hash }
      }),
    end: async (secrets) => void (await take(SESSIONS, digestOfBoth(secrets))),
  }
}

function entriesOf(value: unknown): readonly Entry[] {
  return (value as readonly Entry[] | undefined) ?? []
}

/** Returns the hash of a secret. A lookup by hash leaks nothing through timing. */
function digest(secret: string): string {
  return hash('sha256', secret, 'base64url')
}

function digestOfBoth({ token, pageSecret }: SessionSecrets): string {
  return digest(`${token} ${pageSecret}`)
}

/** The parts of a request that identify the caller. */
export type CallerRequest = Pick<Request, 'method' | 'headers'>

/** Returns the key that a request acts for. @throws Refusal when there is none. */
export type Identify = (request: CallerRequest) => Promise<ApiKey>

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
export function isOwnPage({ method, headers }: CallerRequest): boolean {
  const [site, origin] = [headers.get('sec-fetch-site'), headers.get('origin')]
  if (site !== null && site !== 'same-origin') return false
  if (origin !== null) return origin.replace(/^https?:\/\//, '') === headers.get('host')
  return site !== null || method === 'GET' || method === 'HEAD'
}

/** Returns the refusal of a request that `isOwnPage` denies. A proxy that replaces `Host` makes own pages look foreign. */
export function notOwnPage({ headers }: CallerRequest, message: string): Refusal {
  const [site, origin, host] = ['sec-fetch-site', 'origin', 'host'].map((name) => headers.get(name))
  const mayBeProxied = typeof origin === 'string' && (site === null || site === 'same-origin')
  const advice = `The page is at ${origin}, but the request has the Host ${host}. A proxy must pass the Host header on with its port, in nginx by proxy_set_header Host $http_host.`
  return new Refusal('forbidden_origin', mayBeProxied ? `${message} ${advice}` : message)
}

/** Returns the key of a session, if the request comes from the service's own page with both secrets. */
export async function keyOfSession(
  service: Pick<Service, 'find'>,
  sessions: Pick<Sessions, 'keyHashOf'>,
  request: CallerRequest,
): Promise<ApiKey | undefined> {
  const hash = isOwnPage(request) ? await sessions.keyHashOf(sessionSecrets(request.headers)) : undefined
  return hash === undefined ? undefined : keyOfHash(service, hash)
}

/** Identifies a caller by the key in the header, or otherwise by the session. */
export function byKeyOrSession(
  service: Pick<Service, 'find'>,
  authenticate: Authenticate,
  sessions: Pick<Sessions, 'keyHashOf'>,
): Identify {
  return async (request) => {
    const { headers } = request
    const token = headers.has('authorization') ? undefined : sessionToken(headers)
    if (token === undefined) return authenticate(headers.get('authorization'))
    if (!isOwnPage(request))
      throw notOwnPage(request, 'A session works only on pages of this service. Use an API key elsewhere.')
    const key = await keyOfSession(service, sessions, request)
    if (key !== undefined) return key
    throw new Refusal('unauthorized', 'The session has ended. Run tabwire open for a new link.')
  }
}
