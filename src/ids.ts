import { createCipheriv, createHash, randomBytes } from 'node:crypto'
import { monotonicFactory } from 'ulid'
import type { NewId } from './operations/operation.ts'

/** Everything about a service that nobody can foresee. */
export interface Identifiers {
  newId: NewId
  newSecret: () => string
  newApiKey: () => string
}

/** Out of chance, or, given a seed, out of that alone. */
export function createIdentifiers(now: () => Date, seed?: number): Identifiers {
  if (seed !== undefined) return createSeededIdentifiers(seed, now)
  return { newId: createNewId(now), newSecret, newApiKey }
}

/** Makes identifiers that sort by the time of their making, also within one millisecond (contract section 1). */
export function createNewId(now: () => Date): NewId {
  const next = monotonicFactory(pooledRandom(randomBytes))
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

/**
 * The same identifiers and secrets on every run with the same seed, and so none that is safe. Each kind has a stream of
 * its own: what a request takes for its id changes no id of a check.
 */
function createSeededIdentifiers(seed: number, now: () => Date): Identifiers {
  const streams = new Map<string, (time: number) => string>()
  const streamOf = (prefix: string) => {
    const stream = streams.get(prefix) ?? monotonicFactory(pooledRandom(seededBytes(seed, prefix)))
    streams.set(prefix, stream)
    return stream
  }
  const secret = seededBytes(seed, 'whsec')
  const key = seededBytes(seed, 'twk')
  return {
    newId: (prefix) => `${prefix}_${streamOf(prefix)(now().getTime())}`,
    newSecret: () => `whsec_${secret(32).toString('base64url')}`,
    newApiKey: () => `twk_${key(32).toString('base64url')}`,
  }
}

/** Bytes without end that follow from the seed and a name: the key stream of a cipher. */
function seededBytes(seed: number, name: string): (size: number) => Buffer {
  const key = createHash('sha256').update(`${seed} ${name}`).digest()
  const cipher = createCipheriv('aes-256-ctr', key, Buffer.alloc(16))
  return (size) => cipher.update(Buffer.alloc(size))
}

/** Numbers in [0, 1) out of a pool of bytes: asking the system for each of an identifier's 16 costs more than all else. */
function pooledRandom(bytes: (size: number) => Buffer): () => number {
  let pool: Buffer = Buffer.alloc(0)
  let used = 0
  return () => {
    if (used === pool.length) {
      pool = bytes(4096)
      used = 0
    }
    used += 4
    return pool.readUInt32BE(used - 4) / 2 ** 32
  }
}
