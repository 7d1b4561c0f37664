import { createHmac, createSecretKey, timingSafeEqual, type KeyObject } from 'node:crypto'
import type { Payload } from './options.ts'

/**
 * Returns the HMAC-SHA256 of `<t>.<payload>` in lower-case hex (specification section 5). The key is the whole `whsec_…` text.
 * `t` is text, because a verifier must sign the digits of the header.
 */
export function hexDigest(secret: string, t: string, payload: Payload): string {
  const body = typeof payload === 'string' || ArrayBuffer.isView(payload) ? payload : new Uint8Array(payload)
  // Converting a buffer to hex afterwards takes a third longer.
  return createHmac('sha256', keyOf(secret)).update(`${t}.`).update(body).digest('hex')
}

/** Cached keys: creating one takes longer than a lookup. A receiver has a few, a diagnosis tries many. */
const keys = new Map<string, KeyObject>()
const MAX_KEYS = 16

function keyOf(secret: string): KeyObject {
  const known = keys.get(secret)
  if (known !== undefined) return known
  const key = createSecretKey(secret, 'utf8')
  if (keys.size === MAX_KEYS) keys.clear()
  keys.set(secret, key)
  return key
}

const HEX_LENGTH = 64
/** Buffer for a digest and a candidate, since allocating for each comparison takes longer than comparing. */
const pair = Buffer.alloc(2 * HEX_LENGTH)
const wanted = pair.subarray(0, HEX_LENGTH)
const given = pair.subarray(HEX_LENGTH)

/** True when any candidate equals this hex digest. Compares candidates of the right length in constant time. */
export function anyMatches(candidates: readonly string[], digest: string): boolean {
  for (const candidate of candidates) if (isSame(candidate, digest)) return true
  return false
}

function isSame(candidate: string, digest: string): boolean {
  if (candidate.length !== HEX_LENGTH) return false
  // `write` omits a last multi-byte character that does not fit, and leaves old bytes in its place.
  return pair.write(digest + candidate) === pair.length && timingSafeEqual(given, wanted)
}
