import { hexDigest } from './digest.ts'
import { requireSignable, type SignOptions } from './options.ts'

/**
 * Makes the value of the signature header: `t=<unix_seconds>,v1=<lowercase hex>` (specification section 5).
 *
 * @throws TypeError on a timestamp that is no whole number ≥ 0, an empty secret, or a payload that is no raw body.
 * @example
 * // A test of your receiver: what the service would send it.
 * const header = sign({ payload: body, secret: 'whsec_…' })
 * await fetch(receiver, { method: 'POST', body, headers: { 'X-Service-Signature': header } })
 */
export function sign(options: SignOptions): string {
  const t = requireSignable(options)
  return `t=${t},v1=${hexDigest(options.secret, t, options.payload)}`
}
