import { hash as digest, timingSafeEqual } from 'node:crypto'
import type { ApiKey, Scope } from '../../model/api-key.ts'
import { Refusal } from '../../model/refusal.ts'
import type { Service } from '../../service.ts'

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
