import { isArrayBuffer, type Payload, requireSignable, type SignOptions } from './options.ts'
import { conclude, prepare, requireVerified, type Verification, type VerifyOptions } from './verification.ts'

const encoder = new TextEncoder()

/** Returns the HMAC-SHA256 of `<t>.<payload>` in lower-case hex, by Web Crypto. */
async function hexDigest(secret: string, t: string, payload: Payload): Promise<string> {
  const algorithm = { name: 'HMAC', hash: 'SHA-256' }
  const key = await crypto.subtle.importKey('raw', encoder.encode(secret), algorithm, false, ['sign'])
  const signature = await crypto.subtle.sign('HMAC', key, signedBytes(t, payload))
  return Array.from(new Uint8Array(signature), (byte) => byte.toString(16).padStart(2, '0')).join('')
}

/**
 * True when any candidate equals this signature. Compares all characters, in constant time: Web Crypto's `verify` would
 * compute a MAC for each candidate, of which an attacker may send many.
 */
function anyMatches(candidates: readonly string[], signature: string): boolean {
  return candidates.some((candidate) => candidate.length === signature.length && same(candidate, signature))
}

function same(candidate: string, signature: string): boolean {
  let difference = 0
  for (let at = 0; at < signature.length; at++)
    difference |= candidate.charCodeAt(at) ^ signature.charCodeAt(at)
  return difference === 0
}

function signedBytes(t: string, payload: Payload): Uint8Array<ArrayBuffer> {
  const time = encoder.encode(`${t}.`)
  const body = bytesOf(payload)
  const bytes = new Uint8Array(time.length + body.length)
  bytes.set(time)
  bytes.set(body, time.length)
  return bytes
}

function bytesOf(payload: Payload): Uint8Array {
  if (typeof payload === 'string') return encoder.encode(payload)
  if (isArrayBuffer(payload)) return new Uint8Array(payload)
  return new Uint8Array(payload.buffer, payload.byteOffset, payload.byteLength)
}

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
