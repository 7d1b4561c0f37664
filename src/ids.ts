import { randomBytes } from 'node:crypto'
import { monotonicFactory } from 'ulid'
import type { NewId } from './operations/operation.ts'

/** Makes identifiers that sort by the time of their making, also within one millisecond (contract section 1). */
export function createNewId(now: () => Date): NewId {
  const next = monotonicFactory(() => randomBytes(4).readUInt32BE() / 2 ** 32)
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
