import { createHmac, timingSafeEqual } from 'node:crypto'

/** A raw request body, byte for byte as it was received or will be sent; text counts as its UTF-8 bytes. */
export type Payload = string | Uint8Array

/**
 * HMAC-SHA256 of `<t>.<payload>` (specification section 5), keyed with the whole `whsec_…` text. `t` is text, not a
 * number, because a verifier has to sign what the header says and not what it makes of it.
 */
export function digest(secret: string, t: string, payload: Payload): Buffer {
  return createHmac('sha256', secret).update(`${t}.`).update(payload).digest()
}

/** Whether any candidate is this signature. Takes equally long wherever a candidate of the right length first differs. */
export function anyMatches(candidates: readonly string[], signature: string): boolean {
  const wanted = Buffer.from(signature)
  return candidates.some((candidate) => {
    const given = Buffer.from(candidate)
    return given.length === wanted.length && timingSafeEqual(given, wanted)
  })
}

/** @throws TypeError when the payload is no raw body: what a JSON parser made of it cannot be signed any more. */
export function requireRaw(payload: unknown): void {
  if (typeof payload === 'string' || ArrayBuffer.isView(payload)) return
  throw new TypeError(
    'The payload must be the raw body, as text or bytes, exactly as it was received: a parsed body written out again may differ in bytes. Turn off body parsing for this route, or keep the raw body beside it.',
  )
}

/** @throws TypeError when there is no secret: with an empty key anybody could sign. */
export function requireSecret(secret: unknown): void {
  if (typeof secret === 'string' && secret !== '') return
  throw new TypeError(
    'The secret is missing. Pass the whole whsec_… text that the registration of the endpoint returned.',
  )
}
