import { requireVerified, conclude, prepare, type Verification, type VerifyOptions } from '../verification.ts'
import { anyMatches, hexDigest } from './digest.ts'

/**
 * Verifies a delivery's signature header (specification section 5). Whatever a sender may get wrong comes back as a
 * result; it rejects with a TypeError for what only the caller can get wrong: a parsed payload, no secret, a tolerance or
 * time that is no number ≥ 0.
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
 * Like `verify`, for code that would rather catch: resolves with the verified `t` in Unix seconds, and rejects with a
 * SignatureError that has the `code` of the failure.
 *
 * @example
 * await verifyOrThrow({ payload, header, secret: env.WEBHOOK_SECRET })
 * const event = parseEvent(payload)
 */
export async function verifyOrThrow(options: VerifyOptions): Promise<number> {
  return requireVerified(await verify(options))
}
