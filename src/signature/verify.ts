import { anyMatches, digest, requireRaw, requireSecret, type Payload } from './digest.ts'
import { parseHeader, type HeaderFailure } from './header.ts'

export interface VerifyOptions {
  /** The raw body as received: never the result of a JSON parser, written out again. */
  payload: Payload
  /** The value of the signature header. A list is refused, since a delivery carries one signature header. */
  header: string | readonly string[] | null | undefined
  /** The endpoint's signing secret, whole: `whsec_…`; or several, of which any may have signed. */
  secret: string | readonly string[]
  /** How far `t` may be from now, in seconds, both ways and inclusive. 300 by default; 0 means the same second. */
  tolerance?: number | undefined
  /** The current time, in milliseconds if a number. Its fraction of a second is dropped, as the signer's was. */
  now?: Date | number | undefined
}

export type SignatureFailureCode =
  HeaderFailure['code'] | 'signature_mismatch' | 'timestamp_too_old' | 'timestamp_in_future'

/** A delivery that is not to be trusted: answer it with a 4xx and do nothing else. `message` holds no secret. */
export interface SignatureFailure {
  ok: false
  code: SignatureFailureCode
  message: string
}

/** `timestamp` is the verified `t`, Unix time in seconds. */
export type Verification = { ok: true; timestamp: number } | SignatureFailure

/** Seconds, of specification section 8: the reference verifier's default. */
const defaultTolerance = 300

/**
 * Verifies a delivery's signature header (specification section 5). Whatever a sender may get wrong comes back as a
 * result; the signature is judged before the time, so that a failure about time is about a genuine delivery.
 *
 * @throws TypeError for what only the caller can get wrong: a parsed payload, no secret, a tolerance or time that is no
 * number ≥ 0.
 * @example
 * const result = verify({ payload: rawBody, header: headers['x-service-signature'], secret: 'whsec_…' })
 * if (!result.ok) return respond(400, result.code)
 */
export function verify({
  payload,
  header,
  secret,
  tolerance = defaultTolerance,
  now = Date.now(),
}: VerifyOptions): Verification {
  requireRaw(payload)
  const secrets = secretsOf(secret)
  const seconds = Math.floor(requireNumber('now', Number(now)) / 1000)
  requireNumber('tolerance', tolerance)
  const parsed = parseHeader(header)
  if ('ok' in parsed) return parsed
  const { t, timestamp, v1 } = parsed
  if (!secrets.some((one) => anyMatches(v1, digest(one, t, payload).toString('hex'))))
    return mismatch(secrets)
  return judgeTime(timestamp, seconds, tolerance)
}

/**
 * Like `verify`, for code that would rather catch: returns the verified `t` in Unix seconds.
 *
 * @throws SignatureError with the `code` of the failure, and whatever `verify` throws.
 * @example
 * try {
 *   verifyOrThrow({ payload: rawBody, header, secret: 'whsec_…' })
 * } catch (error) {
 *   if (error instanceof SignatureError) return respond(400, error.code)
 *   throw error
 * }
 */
export function verifyOrThrow(options: VerifyOptions): number {
  const result = verify(options)
  if (!result.ok) throw new SignatureError(result)
  return result.timestamp
}

/** What `verifyOrThrow` throws: a delivery that is not to be trusted, and why. */
export class SignatureError extends Error {
  override readonly name = 'SignatureError'
  readonly code: SignatureFailureCode

  constructor({ code, message }: Pick<SignatureFailure, 'code' | 'message'>) {
    super(message)
    this.code = code
  }
}

/** The secrets as a list. @throws TypeError when there is none, or an empty one among them. */
export function secretsOf(secret: string | readonly string[]): readonly string[] {
  const secrets = Array.isArray(secret) ? (secret as readonly string[]) : [secret as string]
  if (secrets.length === 0) requireSecret(undefined)
  secrets.forEach(requireSecret)
  return secrets
}

function requireNumber(name: string, value: unknown): number {
  // NaN fails this too: a time compared with it would pass no check, or every one.
  if (typeof value === 'number' && value >= 0) return value
  throw new TypeError(`${name} must be a number that is not negative, not ${String(value)}.`)
}

function mismatch(secrets: readonly string[]): SignatureFailure {
  const hint = secrets.some((secret) => secret !== secret.trim())
    ? ' The secret begins or ends with whitespace, which counts: was it read from a file with its newline?'
    : ' Check that the secret is the one of this endpoint, and the payload the raw body.'
  return {
    ok: false,
    code: 'signature_mismatch',
    message: `No v1 signature matches this body and secret.${hint}`,
  }
}

function judgeTime(timestamp: number, now: number, tolerance: number): Verification {
  const age = now - timestamp
  if (Math.abs(age) <= tolerance) return { ok: true, timestamp }
  const past = age > 0
  return {
    ok: false,
    code: past ? 'timestamp_too_old' : 'timestamp_in_future',
    message: `The signature is genuine, but its t is ${Math.abs(age)} s ${past ? 'behind' : 'ahead of'} the clock, and the tolerance is ${tolerance} s. It may be replayed, or a clock is wrong.`,
  }
}
