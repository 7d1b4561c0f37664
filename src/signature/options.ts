/** A raw request body, byte for byte as it was received or will be sent; text counts as its UTF-8 bytes. */
export type Payload = string | Uint8Array | ArrayBuffer

/** What a header is made from (specification section 5). */
export interface SignOptions {
  /** The raw body; it must be sent as these very bytes. */
  payload: Payload
  /** The endpoint's signing secret, whole: `whsec_…`. */
  secret: string
  /** Unix time in whole seconds, 0 or more; the current time by default. Not milliseconds. */
  timestamp?: number | undefined
}

/**
 * The digits of `t`.
 * @throws TypeError on a timestamp that is no whole number ≥ 0, an empty secret, or a payload that is no raw body.
 */
export function requireSignable({ payload, secret, timestamp = unixTime(Date.now()) }: SignOptions): string {
  requireRaw(payload)
  requireSecret(secret)
  if (Number.isSafeInteger(timestamp) && timestamp >= 0) return String(timestamp)
  throw new TypeError(
    `The timestamp must be Unix time in whole seconds, not ${timestamp}. Math.floor(Date.now() / 1000) makes it.`,
  )
}

/** Seconds; the fraction of the current one is dropped. */
export function unixTime(milliseconds: number): number {
  return Math.floor(milliseconds / 1000)
}

/** @throws TypeError when the payload is no raw body: what a JSON parser made of it cannot be signed any more. */
export function requireRaw(payload: unknown): void {
  if (typeof payload === 'string' || ArrayBuffer.isView(payload) || isArrayBuffer(payload)) return
  throw new TypeError(
    'The payload must be the raw body, as text or bytes, exactly as it was received: a parsed body written out again may differ in bytes. Turn off body parsing for this route, or keep the raw body beside it.',
  )
}

/** That of another realm, as test runners make them, is none by `instanceof`. */
export function isArrayBuffer(value: unknown): value is ArrayBuffer {
  return Object.prototype.toString.call(value) === '[object ArrayBuffer]'
}

/** The secrets as a list. @throws TypeError when there is none, or an empty one among them. */
export function secretsOf(secret: string | readonly string[]): readonly string[] {
  const secrets = Array.isArray(secret) ? (secret as readonly string[]) : [secret as string]
  if (secrets.length === 0) requireSecret(undefined)
  for (const one of secrets) requireSecret(one)
  return secrets
}

/** @throws TypeError when there is no secret: with an empty key anybody could sign. */
function requireSecret(secret: unknown): void {
  if (typeof secret === 'string' && secret !== '') return
  throw new TypeError(
    'The secret is missing. Pass the whole whsec_… text that the registration of the endpoint returned.',
  )
}
