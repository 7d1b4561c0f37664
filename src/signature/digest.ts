import { createHmac, timingSafeEqual } from 'node:crypto'
import type { Payload } from './options.ts'

/**
 * Returns the HMAC-SHA256 of `<t>.<payload>` in lower-case hex (specification section 5). The key is the whole `whsec_…` text.
 * `t` is text, because a verifier must sign the digits of the header.
 */
export function hexDigest(secret: string, t: string, payload: Payload): string {
  const body = typeof payload === 'string' || ArrayBuffer.isView(payload) ? payload : new Uint8Array(payload)
  return createHmac('sha256', secret).update(`${t}.`).update(body).digest('hex')
}

/** True when any candidate equals this hex digest. Compares candidates of the right length in constant time. */
export function anyMatches(candidates: readonly string[], digest: string): boolean {
  const wanted = Buffer.from(digest)
  return candidates.some((candidate) => {
    const given = Buffer.from(candidate)
    return given.length === wanted.length && timingSafeEqual(given, wanted)
  })
}
