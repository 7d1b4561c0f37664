import { hash as digest, timingSafeEqual } from 'node:crypto'
import type { ApiKey, Scope } from '../../model/api-key.ts'
import { Refusal } from '../../model/refusal.ts'
import type { Service } from '../../service.ts'
import type { RateLimiterMemory } from 'rate-limiter-flexible'
import type { RateLimit } from '../../model/simulator/settings.ts'

/** SHA-256 of a key in hex: the form in which keys are stored (contract section 2). */
export function hashOf(key: string): string {
  return digest('sha256', key, 'hex')
}

export type Authenticate = (authorization: string | null) => Promise<ApiKey>

/**
 * Finds the key of an `Authorization: Bearer <key>` header. Keys once found are remembered until a key changes, so that
 * a push need not wait for the store twice.
 * @throws Refusal `unauthorized` for no, a malformed, an unknown or a revoked key.
 */
export function createAuthenticate(service: Pick<Service, 'find' | 'onCommit'>): Authenticate {
  let known = new Map<string, ApiKey>()
  service.onCommit((writes, kind) => {
    // A new map, so that a look-up from before the change cannot remember a key that it has revoked.
    if (kind === 'replacement' || writes.some(({ collection }) => collection === 'keys')) known = new Map()
  })
  return async (authorization) => {
    const presented = bearerOf(authorization)
    const hash = hashOf(presented)
    const remembered = known
    const key = remembered.get(hash) ?? (await keyOfHash(service, hash))
    if (key === undefined) throw unauthorized('This API key is not known, or was revoked.')
    remembered.set(hash, key)
    return key
  }
}

/** The key with this hash, unless it was revoked. */
export async function keyOfHash(service: Pick<Service, 'find'>, hash: string): Promise<ApiKey | undefined> {
  const keys = await service.find('keys', 'hash', hash)
  return keys.find(
    (key) => key.revoked_at === null && timingSafeEqual(Buffer.from(key.hash), Buffer.from(hash)),
  )
}

function bearerOf(authorization: string | null): string {
  if (authorization === null) throw unauthorized('This request carries no API key.')
  const key = /^Bearer +([\x21-\x7e]{1,512})$/i.exec(authorization)?.[1]
  if (key === undefined) throw unauthorized('The Authorization header is malformed.')
  return key
}

function unauthorized(what: string): Refusal {
  return new Refusal('unauthorized', `${what} Send the header Authorization: Bearer <API_KEY>.`)
}

/** @throws Refusal `insufficient_scope` that names the missing scope. */
export function requireScope(key: ApiKey, scope: Scope): void {
  if (key.scopes.includes(scope)) return
  const message = `This needs an API key with the scope ${scope}; this one has ${key.scopes.join(', ')}.`
  throw new Refusal('insufficient_scope', message, { required_scope: scope })
}

/**
 * Counts the requests of each known key; an unknown key gets 401 and not 429. The window begins with a
 * key's first request; those that are refused in it count, and make it no longer. Without a limit, nothing is counted.
 * @throws Refusal `rate_limited` beyond the limit (contract section 4).
 */
export function limited(authenticate: Authenticate, limit: RateLimit | undefined): Authenticate {
  if (limit === undefined) return authenticate
  let limiter: Promise<RateLimiterMemory> | undefined
  return async (authorization) => {
    const key = await authenticate(authorization)
    limiter ??= open(limit)
    await (await limiter).consume(key.id).catch((exceeded: unknown) => {
      if (exceeded instanceof Error) throw exceeded
      throw refusal(limit, (exceeded as { msBeforeNext: number }).msBeforeNext)
    })
    return key
  }
}

/** Only a service that limits anything loads what counts. */
async function open({ requests: points, seconds: duration }: RateLimit): Promise<RateLimiterMemory> {
  const { RateLimiterMemory } = await import('rate-limiter-flexible')
  return new RateLimiterMemory({ points, duration })
}

/** Whole seconds, as the header has them, and never 0, which would mean at once. */
function refusal({ requests, seconds }: RateLimit, msBeforeNext: number): Refusal {
  const retry_after_seconds = Math.max(1, Math.ceil(msBeforeNext / 1000))
  const limit = `${requests} request${requests === 1 ? '' : 's'} in ${seconds === 1 ? 'a second' : `${seconds} seconds`}`
  return new Refusal(
    'rate_limited',
    `This API key may make ${limit}. Wait ${retry_after_seconds} s, then send it again.`,
    { retry_after_seconds },
  )
}
