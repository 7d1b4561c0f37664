import { requireRaw, secretsOf, unixTime, type Payload } from './options.ts'
import { parseHeader, type HeaderFailure, type SignatureHeader } from './header.ts'

/** A delivery as it was received, and what it is judged by. */
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
  | HeaderFailure['code']
  | 'signature_mismatch'
  | 'timestamp_too_old'
  | 'timestamp_in_future'

/** A delivery that is not to be trusted: answer it with a 4xx and do nothing else. `message` holds no secret. */
export interface SignatureFailure {
  ok: false
  code: SignatureFailureCode
  message: string
}

/** `timestamp` is the verified `t`, Unix time in seconds. */
export type Verification = { ok: true; timestamp: number } | SignatureFailure

/** What is left to do by one who has HMAC at hand: does any `v1` match what any secret makes of it? */
export interface VerifyInput extends SignatureHeader {
  payload: Payload
  secrets: readonly string[]
  /** In seconds, both. */
  now: number
  tolerance: number
}

/** Seconds, of specification section 8: the reference verifier's default. */
const defaultTolerance = 300

/** Reads the options, or fails by the header alone. @throws TypeError for what only the caller can get wrong. */
export function prepare({
  payload,
  header,
  secret,
  tolerance = defaultTolerance,
  now = Date.now(),
}: VerifyOptions): VerifyInput | SignatureFailure {
  requireRaw(payload)
  const secrets = secretsOf(secret)
  const seconds = unixTime(requireNumber('now', Number(now)))
  requireNumber('tolerance', tolerance)
  const parsed = parseHeader(header)
  if ('ok' in parsed) return parsed
  // Not spread, which on Node 20 takes half as long as the HMAC itself.
  const { t, timestamp, v1 } = parsed
  return { t, timestamp, v1, payload, secrets, now: seconds, tolerance }
}

/** The verdict, once that is known: whether any `v1` matches. */
export function conclude(opened: VerifyInput, matches: boolean): Verification {
  return matches ? checkTime(opened) : mismatch(opened)
}

function requireNumber(name: string, value: unknown): number {
  // NaN fails this too: a time compared with it would pass no check, or every one.
  if (typeof value === 'number' && value >= 0) return value
  throw new TypeError(`${name} must be a number that is not negative, not ${String(value)}.`)
}

function mismatch({ secrets }: VerifyInput): SignatureFailure {
  const hint = secrets.some((secret) => secret !== secret.trim())
    ? ' The secret begins or ends with whitespace, which counts: was it read from a file with its newline?'
    : ' Check that the secret is the one of this endpoint, and the payload the raw body.'
  return {
    ok: false,
    code: 'signature_mismatch',
    message: `No v1 signature matches this body and secret.${hint}`,
  }
}

function checkTime({ timestamp, now, tolerance }: VerifyInput): Verification {
  const age = now - timestamp
  if (Math.abs(age) <= tolerance) return { ok: true, timestamp }
  const past = age > 0
  return {
    ok: false,
    code: past ? 'timestamp_too_old' : 'timestamp_in_future',
    message: `The signature is genuine, but its t is ${Math.abs(age)} s ${past ? 'behind' : 'ahead of'} the clock, and the tolerance is ${tolerance} s. It may be replayed, or a clock is wrong.`,
  }
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

/** The verified `t`, in Unix seconds. @throws SignatureError when the delivery is not to be trusted. */
export function requireVerified(result: Verification): number {
  if (!result.ok) throw new SignatureError(result)
  return result.timestamp
}
