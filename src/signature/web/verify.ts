import { requireVerified, conclude, prepare, type Verification, type VerifyOptions } from '../verification.ts'
import { anyMatches, hexDigest } from './digest.ts'

/**
 * Verifies a delivery's signature header (specification section 5). Returns errors of the sender as a result. Rejects with a
 * TypeError for errors of the caller: a parsed payload, no secret, a tolerance or time that is not a number ≥ 0.
 *
 * @example
 * const payload = await request.arrayBuffer()
 * const header = request.headers.get('X-Service-Signature')
 * const result = await verify({ payload, header, secret: env.WEBHOOK_SECRET })
 * if (!result.ok) return new Response(result.code, { status: 400 })
 */
export async function verify(options: VerifyOptions): Promise<Verification> {
  const input = prepare(options)
  if ('ok' in input) return input
  const { t, v1, payload, secrets } = input
  const signatures = await Promise.all(secrets.map((secret) => hexDigest(secret, t, payload)))
  return conclude(
    input,
    signatures.some((signature) => anyMatches(v1, signature)),
  )
}

/**
 * Like `verify`, but rejects with a SignatureError that has the `code` of the failure. Resolves with the verified `t` in Unix
 * seconds.
 *
 * @example
 * await verifyOrThrow({ payload, header, secret: env.WEBHOOK_SECRET })
 * const event = parseEvent(payload)
 */
export async function verifyOrThrow(options: VerifyOptions): Promise<number> {
  return requireVerified(await verify(options))
}
