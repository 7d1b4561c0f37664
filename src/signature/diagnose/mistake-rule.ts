import { createHmac } from 'node:crypto'

/** The signed parts: the digits of `t`, the body's bytes, one secret. */
export interface SignedParts {
  t: string
  body: Buffer
  secret: string
}

/** A mistake that explains a wrong signature, and how to fix it. */
export interface MistakeRule {
  mistake: string
  advice: string
  /** Returns the signatures that this mistake produces, as in the header. */
  signatures(given: SignedParts): readonly string[]
}

/** Returns the signature of these parts in lower-case hex. */
export function signatureHex(
  { secret, t, body }: { secret: string | Buffer; t: string; body: Buffer },
  hash = 'sha256',
): string {
  return createHmac(hash, secret).update(`${t}.`).update(body).digest('hex')
}

export function hmac(key: string | Buffer, message: Buffer): Buffer {
  return createHmac('sha256', key).update(message).digest()
}
