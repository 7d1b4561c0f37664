import type { ApiKey } from '../model/api-key.ts'
import { put } from '../model/records.ts'
import { Refusal } from '../model/refusal.ts'
import type { CreateKeyBody } from '../model/simulator/bodies.ts'
import { invalid } from '../model/validation.ts'
import { type Operation, unchanged } from './operation.ts'

interface CreateKey extends CreateKeyBody {
  /** SHA-256 of the key in hex. Only the caller has the key itself. */
  hash: string
  location_id: string
}

function readsToCreate({ location_id, hash }: CreateKey) {
  return {
    location: { collection: 'locations', id: location_id },
    same: { collection: 'keys', index: 'hash', key: hash },
  } as const
}

/**
 * `POST /_sim/keys`: creates a key of one location with the requested scopes. Returns the key of the same hash when
 * it is in use: instances of a shared store may add it together.
 */
export const createKey = {
  reads: readsToCreate,
  decide({ location, same }, { name, scopes, hash, location_id }, { now, newId }) {
    if (location === undefined)
      throw invalid([
        {
          path: 'location_id',
          message: `must be the id of a location, got ${location_id}. GET /locations lists them`,
        },
      ])
    const existing = [...same].find(({ revoked_at }) => revoked_at === null)
    if (existing !== undefined) return unchanged(existing)
    const key: ApiKey = {
      id: newId('key'),
      hash,
      name,
      scopes,
      location_id,
      created_at: now.toISOString(),
      revoked_at: null,
    }
    return { reply: key, writes: [put('keys', key)], events: [] }
  },
} satisfies Operation<CreateKey, ReturnType<typeof readsToCreate>, ApiKey>

interface RevokeKey {
  key_id: string
}

function readsToRevoke({ key_id }: RevokeKey) {
  return { key: { collection: 'keys', id: key_id } } as const
}

/** `DELETE /_sim/keys/{id}`: revokes a key. Revoking it again changes nothing. */
export const revokeKey = {
  reads: readsToRevoke,
  decide({ key }, { key_id }, { now }) {
    if (key === undefined)
      throw new Refusal('not_found', `Key ${key_id} not found. GET /_sim/keys lists the keys.`)
    if (key.revoked_at !== null) return unchanged(key)
    const revoked = { ...key, revoked_at: now.toISOString() }
    return { reply: revoked, writes: [put('keys', revoked)], events: [] }
  },
} satisfies Operation<RevokeKey, ReturnType<typeof readsToRevoke>, ApiKey>
