import { hash as digest, timingSafeEqual } from 'node:crypto'
import type { ApiKey, Scope } from '../../model/api-key.ts'
import { Refusal } from '../../model/refusal.ts'
import type { Service } from '../../service.ts'
import type { RateLimit } from '../../model/simulator/settings.ts'
import { timers } from '../../timers.ts'
import { count } from '../../model/text/count.ts'

/** Returns the SHA-256 of a key in hex, as keys are stored (contract section 2). */
export function hashOf(key: string): string {
  return digest('sha256', key, 'hex')
}

export type Authenticate = (authorization: string | null) => Promise<ApiKey>

/** Limits for using a found key without reading the store. */
export interface KeyCache {
  /** In milliseconds. */
  lifetimeMs: number
  /** Monotonic clock in milliseconds. */
  measure: () => number
}

/**
 * Finds the key of an `Authorization: Bearer <key>` header. Found keys are cached until a key changes, which saves one
 * read of the store per push. With `cache`, they are also looked up again after its time: an instance that is cut off from
 * the database does not learn that a key was revoked, and must not answer from memory then.
 * @throws Refusal `unauthorized` for a missing, malformed, unknown or revoked key.
 */
export function createAuthenticate(
  service: Pick<Service, 'find' | 'onCommit'>,
  cache?: KeyCache,
): Authenticate {
  let known = new Map<string, { key: ApiKey; until: number }>()
  service.onCommit((writes, kind) => {
    // A new map, so that a lookup that started earlier cannot cache a revoked key.
    if (kind === 'replacement' || writes.some(({ collection }) => collection === 'keys')) known = new Map()
  })
  return async (authorization) => {
    const presented = bearerOf(authorization)
    const hash = hashOf(presented)
    const remembered = known
    const found = remembered.get(hash)
    const now = cache?.measure() ?? 0
    if (found !== undefined && now < found.until) return found.key
    const key = await keyOfHash(service, hash)
    if (key === undefined) throw unauthorized('The API key is unknown or was revoked.')
    remembered.set(hash, { key, until: cache === undefined ? Infinity : now + cache.lifetimeMs })
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

/** Returns the key of an `Authorization` header. @throws Refusal `unauthorized` for a missing or malformed one. */
export function bearerOf(authorization: string | null): string {
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

/** Runs the statements of the rate limiter, so that all instances count together. */
export interface LimitDatabase {
  /** Name of the schema that has the table {@link LIMITS_TABLE}. */
  schema: string
  /** @throws Refusal `storage_unavailable`. */
  query(statement: { text: string; values: readonly unknown[] }): Promise<{ rows: readonly unknown[] }>
}

/** Table of the windows, made by a migration of the store. */
const LIMITS_TABLE = 'rate_limits'

/**
 * Limits the requests of each known key; unknown keys get 401 first. The window starts with a key's first request.
 * Refused requests count, but do not extend it. With a database, one window per key counts the requests of all instances.
 * @throws Refusal `rate_limited` beyond the limit (contract section 4).
 */
export function createRateLimit(
  limit: RateLimit,
  database: LimitDatabase | undefined,
): (key: ApiKey) => Promise<void> {
  let limiter: Promise<Limiter> | undefined
  return async ({ id }) => {
    limiter ??= database === undefined ? Promise.resolve(limitHere(limit)) : limitBy(database, limit)
    const waitMs = await (await limiter)(id)
    if (waitMs > 0) throw refusal(limit, waitMs)
  }
}

/** Counts a request of a key. Resolves with the milliseconds until the next one is accepted, or 0 when this one is. */
type Limiter = (keyId: string) => Promise<number>

/** Limits the requests of this process. Not the library's limiter, whose windows stop with the fake timers of a test. */
function limitHere({ requests, seconds }: RateLimit): Limiter {
  const windows = new Map<string, { ends: number; used: number }>()
  return async (keyId) => {
    const now = timers.elapsed()
    const last = windows.get(keyId)
    const window = last !== undefined && now < last.ends ? last : { ends: now + seconds * 1000, used: 0 }
    windows.set(keyId, window)
    window.used += 1
    return window.used > requests ? window.ends - now : 0
  }
}

/** Limits the requests of all instances. */
async function limitBy(
  database: LimitDatabase,
  { requests: points, seconds: duration }: RateLimit,
): Promise<Limiter> {
  const { RateLimiterPostgres } = await import('rate-limiter-flexible')
  const limiter = new RateLimiterPostgres({
    points,
    duration,
    storeClient: database,
    storeType: 'client',
    schemaName: database.schema,
    tableName: LIMITS_TABLE,
    tableCreated: true,
    // One row per key, which its next window replaces.
    clearExpiredByTimeout: false,
  })
  return (keyId) =>
    limiter.consume(keyId).then(
      () => 0,
      (exceeded: unknown) => {
        if (exceeded instanceof Error) throw exceeded
        return Math.max(1, (exceeded as { msBeforeNext: number }).msBeforeNext)
      },
    )
}

/** Returns the refusal with whole seconds for `Retry-After`, at least 1. */
function refusal({ requests, seconds }: RateLimit, msBeforeNext: number): Refusal {
  const retry_after_seconds = Math.max(1, Math.ceil(msBeforeNext / 1000))
  const limit = `${count(requests, 'request')} per ${seconds === 1 ? 'second' : `${seconds} seconds`}`
  return new Refusal(
    'rate_limited',
    `Rate limit of this API key exceeded: ${limit}. Retry after ${retry_after_seconds} s.`,
    { retry_after_seconds },
  )
}
