import { createHmac } from 'node:crypto'
import { requireSignable, type Payload, type SignOptions } from './options.ts'

/**
 * Returns the value of the signature header: `t=<unix_seconds>,v1=<lowercase hex>` (specification section 5).
 *
 * @throws TypeError when the timestamp is not a whole number ≥ 0, the secret is empty, or the payload is not a raw body.
 * @example
 * // In a test of your receiver: send what the service would send.
 * const header = sign({ payload: body, secret: 'whsec_…' })
 * await fetch(receiver, { method: 'POST', body, headers: { 'X-Service-Signature': header } })
 */
export function sign(options: SignOptions): string {
  const t = requireSignable(options)
  return `t=${t},v1=${hexDigest(options.secret, t, options.payload)}`
}

/**
 * Returns the HMAC-SHA256 of `<t>.<payload>` in lower-case hex (specification section 5). The key is the whole `whsec_…` text.
 * `t` is text, because a verifier must sign the digits of the header.
 */
export function hexDigest(secret: string, t: string, payload: Payload): string {
  const body = typeof payload === 'string' || ArrayBuffer.isView(payload) ? payload : new Uint8Array(payload)
  return createHmac('sha256', secret).update(`${t}.`).update(body).digest('hex')
}
