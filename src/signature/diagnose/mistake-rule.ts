import { createHmac } from 'node:crypto'

/** What was verified: the digits of `t`, the body's bytes, one secret. */
export interface SignedParts {
  t: string
  body: Buffer
  secret: string
}

/** Something that goes wrong with a signature, and what to do about it. */
export interface MistakeRule {
  mistake: string
  advice: string
  /** The signatures that this slip would have made, as they would stand in the header. */
  signatures(given: SignedParts): readonly string[]
}

/** The signature as it should be, but for what is given otherwise. */
export function signatureHex(
  { secret, t, body }: { secret: string | Buffer; t: string; body: Buffer },
  hash = 'sha256',
): string {
  return createHmac(hash, secret).update(`${t}.`).update(body).digest('hex')
}

export function hmac(key: string | Buffer, message: Buffer): Buffer {
  return createHmac('sha256', key).update(message).digest()
}
