import { hash as digest, timingSafeEqual } from 'node:crypto'
import type { ApiKey, Scope } from '../../model/api-key.ts'
import { Refusal } from '../../model/refusal.ts'
import type { Service } from '../../service.ts'
import type { RateLimiterMemory } from 'rate-limiter-flexible'
import type { RateLimit } from '../../model/simulator/settings.ts'

/** Returns the SHA-256 of a key in hex, as keys are stored (contract section 2). */
export function hashOf(key: string): string {
  return digest('sha256', key, 'hex')
}

export type Authenticate = (authorization: string | null) => Promise<ApiKey>

/**
 * Finds the key of an `Authorization: Bearer <key>` header. Found keys are cached until a key changes, which saves one
 * read of the store per push.
 * @throws Refusal `unauthorized` for a missing, malformed, unknown or revoked key.
 */
export function createAuthenticate(service: Pick<Service, 'find' | 'onCommit'>): Authenticate {
  let known = new Map<string, ApiKey>()
  service.onCommit((writes, kind) => {
    // A new map, so that a lookup that started earlier cannot cache a revoked key.
    if (kind === 'replacement' || writes.some(({ collection }) => collection === 'keys')) known = new Map()
  })
  return async (authorization) => {
    const presented = bearerOf(authorization)
    const hash = hashOf(presented)
    const remembered = known
    const key = remembered.get(hash) ?? (await keyOfHash(service, hash))
    if (key === undefined) throw unauthorized('The API key is unknown or was revoked.')
    remembered.set(hash, key)
    return key
  }
}

/** Returns the key with this hash, unless it was revoked. */
export async function keyOfHash(service: Pick<Service, 'find'>, hash: string): Promise<ApiKey | undefined> {
  const keys = await service.find('keys', 'hash', hash)
  return keys.find(
    (key) => key.revoked_at === null && timingSafeEqual(Buffer.from(key.hash), Buffer.from(hash)),
  )
}

function bearerOf(authorization: string | null): string {
  if (authorization === null) throw unauthorized('The request has no API key.')
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
  const message = `This request needs an API key with scope ${scope}. This key has: ${key.scopes.join(', ')}. Use another key.`
  throw new Refusal('insufficient_scope', message, { required_scope: scope })
}

/**
 * Limits the requests of each known key; unknown keys get 401 first. The window starts with a key's first request.
 * Refused requests count, but do not extend it.
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

/** Loads the rate limiter only when a limit is set. */
async function open({ requests: points, seconds: duration }: RateLimit): Promise<RateLimiterMemory> {
  const { RateLimiterMemory } = await import('rate-limiter-flexible')
  return new RateLimiterMemory({ points, duration })
}

/** Returns the refusal with whole seconds for `Retry-After`, at least 1. */
function refusal({ requests, seconds }: RateLimit, msBeforeNext: number): Refusal {
  const retry_after_seconds = Math.max(1, Math.ceil(msBeforeNext / 1000))
  const limit = `${requests} request${requests === 1 ? '' : 's'} per ${seconds === 1 ? 'second' : `${seconds} seconds`}`
  return new Refusal(
    'rate_limited',
    `Rate limit of this API key exceeded: ${limit}. Retry after ${retry_after_seconds} s.`,
    { retry_after_seconds },
  )
}
