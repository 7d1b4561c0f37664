import { requireRaw, secretsOf, unixTime, type Payload } from './options.ts'
import { parseHeader, type HeaderFailure, type SignatureHeader } from './header.ts'

/** A delivery as received, and the options of its verification. */
export interface VerifyOptions {
  /** The raw body as received, never re-serialised JSON. */
  payload: Payload
  /** Value of the signature header. A list is rejected, since a delivery has one signature header. */
  header: string | readonly string[] | null | undefined
  /** The endpoint's whole signing secret, `whsec_…`; or several, any of which may match. */
  secret: string | readonly string[]
  /** Allowed distance of `t` from now in seconds, in both directions, inclusive. Default 300; 0 means the same second. */
  tolerance?: number | undefined
  /** The current time; a number is in milliseconds. Rounded down to a second, like `t`. */
  now?: Date | number | undefined
}

export type SignatureFailureCode =
  | HeaderFailure['code']
  | 'signature_mismatch'
  | 'timestamp_too_old'
  | 'timestamp_in_future'

/** An untrusted delivery: answer it with a 4xx and do nothing else. `message` contains no secret. */
export interface SignatureFailure {
  ok: false
  code: SignatureFailureCode
  message: string
}

/** `timestamp` is the verified `t`, Unix time in seconds. */
export type Verification = { ok: true; timestamp: number } | SignatureFailure

/** Validated input: the caller computes the HMAC of each secret and compares it with each `v1`. */
interface VerifyInput extends SignatureHeader {
  payload: Payload
  secrets: readonly string[]
  /** `now` and `tolerance` are in seconds. */
  now: number
  tolerance: number
}

/** Seconds; the reference verifier's default (specification section 8). */
const defaultTolerance = 300

/** Validates the options and parses the header. @throws TypeError when an option of the caller is invalid. */
export function prepare({
  payload,
  header,
  secret,
  tolerance = defaultTolerance,
  now = Date.now(),
}: VerifyOptions): VerifyInput | SignatureFailure {
  requireRaw(payload)
  const secrets = secretsOf(secret)
  // A Date of another realm is no instance of this one.
  const ms: unknown = typeof now === 'object' && now !== null && !Array.isArray(now) ? Number(now) : now
  const seconds = unixTime(requireNumber('now', ms))
  requireNumber('tolerance', tolerance)
  const parsed = parseHeader(header)
  if ('ok' in parsed) return parsed
  // Not spread: on Node 20 that takes half as long as the HMAC.
  const { t, timestamp, v1 } = parsed
  return { t, timestamp, v1, payload, secrets, now: seconds, tolerance }
}

/** Returns the result, given whether any `v1` matches. */
export function conclude(input: VerifyInput, matches: boolean): Verification {
  return matches ? checkTime(input) : mismatch(input)
}

function requireNumber(name: string, value: unknown): number {
  // Also rejects NaN, with which comparisons of times are always false.
  if (typeof value === 'number' && value >= 0) return value
  throw new TypeError(`${name} must be a number of at least 0, got ${String(value)}.`)
}

function mismatch({ secrets }: VerifyInput): SignatureFailure {
  const hint = secrets.some((secret) => secret !== secret.trim())
    ? ' The secret begins or ends with whitespace, which changes the key. Trim it: a file often ends with a newline.'
    : ' Check that the secret belongs to this endpoint, and that the payload is the raw body.'
  return {
    ok: false,
    code: 'signature_mismatch',
    message: `No v1 signature matches this body and secret.${hint}`,
  }
}

/** In seconds. A current time in seconds that is taken for milliseconds is before it. */
const YEAR_1973 = 1e8

function checkTime({ timestamp, now, tolerance }: VerifyInput): Verification {
  const age = now - timestamp
  if (Math.abs(age) <= tolerance) return { ok: true, timestamp }
  const past = age > 0
  return {
    ok: false,
    code: past ? 'timestamp_too_old' : 'timestamp_in_future',
    message: `The signature is genuine, but t is ${Math.abs(age)} s ${past ? 'behind' : 'ahead of'} the clock, and the tolerance is ${tolerance} s. ${hintFor(past, now)}`,
  }
}

function hintFor(past: boolean, now: number): string {
  if (now < YEAR_1973) return 'The option now must be in milliseconds, and looks like seconds.'
  return past
    ? 'The delivery may be a replay, or a clock is wrong.'
    : 'One of the two clocks is wrong. Set both by NTP.'
}

/** Thrown by `verifyOrThrow` for an untrusted delivery. */
export class SignatureError extends Error {
  override readonly name = 'SignatureError'
  readonly code: SignatureFailureCode

  constructor({ code, message }: Pick<SignatureFailure, 'code' | 'message'>) {
    super(message)
    this.code = code
  }
}

/** Returns the verified `t` in Unix seconds. @throws SignatureError when the verification failed. */
export function requireVerified(result: Verification): number {
  if (!result.ok) throw new SignatureError(result)
  return result.timestamp
}
