import { requireSignable, type SignOptions } from '../options.ts'
import { hexDigest } from './digest.ts'

/**
 * Makes the value of the signature header: `t=<unix_seconds>,v1=<lowercase hex>` (specification section 5).
 * Rejects with a TypeError on a timestamp that is no whole number ≥ 0, an empty secret, or a payload that is no raw body.
 *
 * @example
 * const header = await sign({ payload: body, secret: 'whsec_…' })
 * await fetch(receiver, { method: 'POST', body, headers: { 'X-Service-Signature': header } })
 */
export async function sign(options: SignOptions): Promise<string> {
  const t = requireSignable(options)
  return `t=${t},v1=${await hexDigest(options.secret, t, options.payload)}`
}
