import { createHmac, createSecretKey, timingSafeEqual, type KeyObject } from 'node:crypto'
import type { Payload } from './options.ts'

/**
 * HMAC-SHA256 of `<t>.<payload>` in lower-case hex (specification section 5), keyed with the whole `whsec_…` text. `t` is
 * text, not a number, because a verifier has to sign what the header says and not what it makes of it.
 */
export function hexDigest(secret: string, t: string, payload: Payload): string {
  const body = typeof payload === 'string' || ArrayBuffer.isView(payload) ? payload : new Uint8Array(payload)
  // A buffer that is made into hex afterwards takes a third longer.
  return createHmac('sha256', keyOf(secret)).update(`${t}.`).update(body).digest('hex')
}

/** A secret as a key takes longer to make than to look up. A receiver has a few; a search for a mistake tries many. */
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
/** A digest and a candidate beside it: buffers of their own, for each comparison, take longer than comparing. */
const pair = Buffer.alloc(2 * HEX_LENGTH)
const wanted = pair.subarray(0, HEX_LENGTH)
const given = pair.subarray(HEX_LENGTH)

/** Whether any candidate is this digest in hex. Takes equally long wherever one of the right length first differs. */
export function anyMatches(candidates: readonly string[], digest: string): boolean {
  for (const candidate of candidates) if (isSame(candidate, digest)) return true
  return false
}

function isSame(candidate: string, digest: string): boolean {
  if (candidate.length !== HEX_LENGTH) return false
  // Less is written when a last character of several bytes finds no room, and what was there before is left in its place.
  return pair.write(digest + candidate) === pair.length && timingSafeEqual(given, wanted)
}
