import { createCipheriv, createHash, randomBytes } from 'node:crypto'
import { decodeTime, incrementBase32, TIME_LEN, ulid } from 'ulid'
import type { NewId } from './operations/operation.ts'

/** Sources of unpredictable values: ids, secrets and tokens. */
export interface Identifiers {
  newId: NewId
  /** Restarts after the newest record of a loaded state, wherever the clock stands. */
  restartAfter: (newestId: string | undefined) => void
  newSecret: () => string
  newApiKey: () => string
  /** What tables' addresses follow from. */
  newTableSecret: () => string
}

/** Where identifiers and secrets come from. Each name has bytes without end. */
interface Source {
  /** Names the stream that identifiers with this prefix are made from. */
  streamOf: (prefix: string) => string
  bytes: (name: string) => (size: number) => Buffer
}

const chance: Source = { streamOf: () => 'all', bytes: () => randomBytes }

/**
 * Makes identifiers that sort by the time of their making, also within one millisecond (contract section 1), and secrets:
 * out of chance, or, given a seed, out of that alone.
 */
export function createIdentifiers(now: () => Date, seed?: number): Identifiers {
  const source = seed === undefined ? chance : seededSource(seed)
  const randoms = new Map<string, () => number>()
  const makers = new Map<string, (time: number) => string>()
  let earliest = 0
  const makerOf = (name: string) => {
    const random = randoms.get(name) ?? pooledRandom(source.bytes(name))
    randoms.set(name, random)
    const maker = monotonic(random)
    makers.set(name, maker)
    return maker
  }
  return {
    newId(prefix) {
      const name = source.streamOf(prefix)
      const next = makers.get(name) ?? makerOf(name)
      return `${prefix}_${next(Math.max(now().getTime(), earliest))}`
    },
    restartAfter(newest) {
      earliest = newest === undefined ? 0 : decodeTime(newest.slice(newest.indexOf('_') + 1)) + 1
      makers.clear()
    },
    newSecret: () => secretOf(source.bytes('whsec')),
    newApiKey: () => `twk_${source.bytes('twk')(32).toString('base64url')}`,
    newTableSecret: () => source.bytes('table')(32).toString('base64url'),
  }
}

export function createNewId(now: () => Date): NewId {
  return createIdentifiers(now).newId
}

/** A new signing secret: `whsec_` and 32 random bytes in base64url. */
export function newSecret(): string {
  return secretOf(randomBytes)
}

/** An unguessable part of a name: 16 random bytes in base64url. */
export function newToken(): string {
  return randomBytes(16).toString('base64url')
}

function secretOf(bytes: (size: number) => Buffer): string {
  return `whsec_${bytes(32).toString('base64url')}`
}

/**
 * The same identifiers and secrets on every run with the same seed, and so none that is safe. Each kind has a stream of
 * its own: what a request takes for its id changes no id of a check.
 */
function seededSource(seed: number): Source {
  const streams = new Map<string, (size: number) => Buffer>()
  return {
    streamOf: (prefix) => prefix,
    bytes(name) {
      const stream = streams.get(name) ?? seededBytes(seed, name)
      streams.set(name, stream)
      return stream
    },
  }
}

/** Bytes without end that follow from the seed and a name: the key stream of a cipher. */
function seededBytes(seed: number, name: string): (size: number) => Buffer {
  const key = createHash('sha256').update(`${seed} ${name}`).digest()
  const cipher = createCipheriv('aes-256-ctr', key, Buffer.alloc(16))
  return (size) => cipher.update(Buffer.alloc(size))
}

/**
 * Makes ULIDs that go up, also within a millisecond and when time stands still: then all but their last digits stay. Not by
 * the package's own factory, which encodes the time for each id, three times as long.
 */
function monotonic(random: () => number): (time: number) => string {
  let newest = 0
  let begin = ''
  let end = ''
  return (now) => {
    // At 0, the epoch, the package would take the machine's time.
    const time = Math.max(now, 1)
    if (time > newest) {
      const made = ulid(time, random)
      newest = time
      begin = made.slice(0, TIME_LEN)
      end = made.slice(TIME_LEN)
    } else end = incrementBase32(end)
    return begin + end
  }
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
