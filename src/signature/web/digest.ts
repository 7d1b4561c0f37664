import { isArrayBuffer, type Payload } from '../options.ts'

const encoder = new TextEncoder()

/** Returns the HMAC-SHA256 of `<t>.<payload>` in lower-case hex, by Web Crypto. */
export async function hexDigest(secret: string, t: string, payload: Payload): Promise<string> {
  const algorithm = { name: 'HMAC', hash: 'SHA-256' }
  const key = await crypto.subtle.importKey('raw', encoder.encode(secret), algorithm, false, ['sign'])
  const signature = await crypto.subtle.sign('HMAC', key, signedBytes(t, payload))
  return Array.from(new Uint8Array(signature), (byte) => byte.toString(16).padStart(2, '0')).join('')
}

/**
 * True when any candidate equals this signature. Compares all characters, in constant time: Web Crypto's `verify` would
 * compute a MAC for each candidate, of which an attacker may send many.
 */
export function anyMatches(candidates: readonly string[], signature: string): boolean {
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
