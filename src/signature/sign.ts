import { hexDigest } from './digest.ts'
import { requireSignable, type SignOptions } from './options.ts'

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
