import { createHash } from 'node:crypto'

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
