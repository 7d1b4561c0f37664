import { randomBytes } from 'node:crypto'
import { monotonicFactory } from 'ulid'
import type { NewId } from './operations/operation.ts'

/** Makes identifiers that sort by the time of their making, also within one millisecond (contract section 1). */
export function createNewId(now: () => Date): NewId {
  const next = monotonicFactory(pooledRandom())
  return (prefix) => `${prefix}_${next(now().getTime())}`
}

/** A new signing secret: `whsec_` and 32 random bytes in base64url. */
export function newSecret(): string {
  return `whsec_${randomBytes(32).toString('base64url')}`
}

/** A new API key: `twk_` and 32 random bytes in base64url. */
export function newApiKey(): string {
  return `twk_${randomBytes(32).toString('base64url')}`
}

/** A part of a name that nobody can guess: 16 random bytes in base64url. */
export function newToken(): string {
  return randomBytes(16).toString('base64url')
}

/** Numbers in [0, 1) out of a pool of random bytes: asking the system for each of an identifier's 16 costs more than all else. */
function pooledRandom(): () => number {
  let pool = Buffer.alloc(0)
  let used = 0
  return () => {
    if (used === pool.length) {
      pool = randomBytes(4096)
      used = 0
    }
    used += 4
    return pool.readUInt32BE(used - 4) / 2 ** 32
  }
}
