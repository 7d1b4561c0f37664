import { createHmac, timingSafeEqual } from 'node:crypto'
import { isArrayBuffer, type Payload } from './given.ts'

/**
 * HMAC-SHA256 of `<t>.<payload>` (specification section 5), keyed with the whole `whsec_…` text. `t` is text, not a
 * number, because a verifier has to sign what the header says and not what it makes of it.
 */
export function digest(secret: string, t: string, payload: Payload): Buffer {
  const body = isArrayBuffer(payload) ? new Uint8Array(payload) : payload
  return createHmac('sha256', secret).update(`${t}.`).update(body).digest()
}

/** Whether any candidate is this signature. Takes equally long wherever a candidate of the right length first differs. */
export function anyMatches(candidates: readonly string[], signature: string): boolean {
  const wanted = Buffer.from(signature)
  return candidates.some((candidate) => {
    const given = Buffer.from(candidate)
    return given.length === wanted.length && timingSafeEqual(given, wanted)
  })
}
