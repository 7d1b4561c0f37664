/** A raw request body, byte for byte as received or sent; text counts as its UTF-8 bytes. */
export type Payload = string | Uint8Array | ArrayBuffer

/** Input of a signature header (specification section 5). */
export interface SignOptions {
  /** The raw body; send exactly these bytes. */
  payload: Payload
  /** The endpoint's signing secret, whole: `whsec_…`. */
  secret: string
  /** Unix time in whole seconds, 0 or more; the current time by default. Not milliseconds. */
  timestamp?: number | undefined
}

/**
 * Validates the options and returns the digits of `t`.
 * @throws TypeError when the timestamp is not a whole number ≥ 0, the secret is empty, or the payload is not a raw body.
 */
export function requireSignable({ payload, secret, timestamp = unixTime(Date.now()) }: SignOptions): string {
  requireRaw(payload)
  requireSecret(secret)
  if (Number.isSafeInteger(timestamp) && timestamp >= 0) return String(timestamp)
  throw new TypeError(
    `The timestamp must be Unix time in whole seconds, got ${timestamp}. Use Math.floor(Date.now() / 1000).`,
  )
}

/** Converts to whole seconds, rounded down. */
export function unixTime(milliseconds: number): number {
  return Math.floor(milliseconds / 1000)
}

/** @throws TypeError when the payload is not a raw body, such as the result of a JSON parser. */
export function requireRaw(payload: unknown): void {
  if (typeof payload === 'string' || ArrayBuffer.isView(payload) || isArrayBuffer(payload)) return
  throw new TypeError(
    'The payload must be the raw body, as text or bytes, exactly as received. A parsed and serialized body may have other bytes. Turn off body parsing for this route, or keep the raw body.',
  )
}

/** Also true for a buffer of another realm, such as a test runner's, which `instanceof` misses. */
export function isArrayBuffer(value: unknown): value is ArrayBuffer {
  return Object.prototype.toString.call(value) === '[object ArrayBuffer]'
}

/** Returns the secrets as a list. @throws TypeError when there is none, or one is empty. */
export function secretsOf(secret: string | readonly string[]): readonly string[] {
  const secrets = Array.isArray(secret) ? (secret as readonly string[]) : [secret as string]
  if (secrets.length === 0) requireSecret(undefined)
  for (const one of secrets) requireSecret(one)
  return secrets
}

/** @throws TypeError when the secret is missing or empty: an empty key lets everyone sign. */
function requireSecret(secret: unknown): void {
  if (typeof secret === 'string' && secret !== '') return
  throw new TypeError(
    'The secret is missing. Pass the whole whsec_… secret that the registration of the endpoint returned.',
  )
}
