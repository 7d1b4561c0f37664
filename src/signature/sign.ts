import { digest, requireRaw, requireSecret, type Payload } from './digest.ts'

export interface SignOptions {
  /** The raw body; it must be sent as these very bytes. */
  payload: Payload
  /** The endpoint's signing secret, whole: `whsec_…`. */
  secret: string
  /** Unix time in whole seconds, 0 or more. Not milliseconds. */
  timestamp: number
}

/**
 * Makes the value of the signature header: `t=<unix_seconds>,v1=<lowercase hex>` (specification section 5).
 *
 * @throws TypeError on a timestamp that is no whole number ≥ 0, an empty secret, or a payload that is no raw body.
 * @example
 * const timestamp = Math.floor(Date.now() / 1000)
 * request.setHeader('X-Service-Signature', sign({ payload: body, secret: 'whsec_…', timestamp }))
 */
export function sign({ payload, secret, timestamp }: SignOptions): string {
  requireRaw(payload)
  requireSecret(secret)
  if (!Number.isSafeInteger(timestamp) || timestamp < 0)
    throw new TypeError(
      `The timestamp must be Unix time in whole seconds, not ${timestamp}. Math.floor(Date.now() / 1000) makes it.`,
    )
  return `t=${timestamp},v1=${digest(secret, String(timestamp), payload).toString('hex')}`
}
