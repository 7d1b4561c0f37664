import { requireSignable, type SignOptions } from '../options.ts'
import { hexDigest } from './digest.ts'

/**
 * Returns the value of the signature header: `t=<unix_seconds>,v1=<lowercase hex>` (specification section 5).
 * Rejects with a TypeError when the timestamp is not a whole number ≥ 0, the secret is empty, or the payload is not a raw body.
 *
 * @example
 * const header = await sign({ payload: body, secret: 'whsec_…' })
 * await fetch(receiver, { method: 'POST', body, headers: { 'X-Service-Signature': header } })
 */
export async function sign(options: SignOptions): Promise<string> {
  const t = requireSignable(options)
  return `t=${t},v1=${await hexDigest(options.secret, t, options.payload)}`
}
