import type { ApiKey } from '../model/api-key.ts'
import { put } from '../model/records.ts'
import { Refusal } from '../model/refusal.ts'
import { unchanged, type Operation } from './operation.ts'

interface RevokeKey {
  key_id: string
}

function reads({ key_id }: RevokeKey) {
  return { key: { collection: 'keys', id: key_id } } as const
}

/** `DELETE /_sim/keys/{id}`: revokes a key. Revoking it again changes nothing. */
export const revokeKey = {
  reads,
  decide({ key }, { key_id }, { now }) {
    if (key === undefined)
      throw new Refusal('not_found', `Key ${key_id} not found. GET /_sim/keys lists the keys.`)
    if (key.revoked_at !== null) return unchanged(key)
    const revoked = { ...key, revoked_at: now.toISOString() }
    return { reply: revoked, writes: [put('keys', revoked)], events: [] }
  },
} satisfies Operation<RevokeKey, ReturnType<typeof reads>, ApiKey>
