import { timingSafeEqual } from 'node:crypto'
import { hexDigest } from './sign.ts'
import { requireVerified, conclude, prepare, type Verification, type VerifyOptions } from './verification.ts'

/**
 * Verifies a delivery's signature header (specification section 5). Returns errors of the sender as a result. Checks the
 * signature before the time, so a failure about time means a genuine delivery.
 *
 * @throws TypeError for errors of the caller: a parsed payload, no secret, a tolerance or time that is not a number ≥ 0.
 * @example
 * const result = verify({ payload: rawBody, header: headers['x-service-signature'], secret: 'whsec_…' })
 * if (!result.ok) return respond(400, result.code)
 */
export function verify(options: VerifyOptions): Verification {
  const input = prepare(options)
  if ('ok' in input) return input
  const { t, v1, payload, secrets } = input
  for (const secret of secrets)
    if (anyMatches(v1, hexDigest(secret, t, payload))) return conclude(input, true)
  return conclude(input, false)
}

/**
 * Like `verify`, but throws. Returns the verified `t` in Unix seconds.
 *
 * @throws SignatureError with the `code` of the failure, and TypeError like `verify`.
 * @example
 * try {
 *   verifyOrThrow({ payload: rawBody, header, secret: 'whsec_…' })
 * } catch (error) {
 *   if (error instanceof SignatureError) return respond(400, error.code)
 *   throw error
 * }
 */
export function verifyOrThrow(options: VerifyOptions): number {
  return requireVerified(verify(options))
}

/** True when any candidate equals this hex digest. Compares candidates of the right length in constant time. */
function anyMatches(candidates: readonly string[], digest: string): boolean {
  const wanted = Buffer.from(digest)
  for (const candidate of candidates) {
    const given = Buffer.from(candidate)
    if (given.length === wanted.length && timingSafeEqual(given, wanted)) return true
  }
  return false
}
