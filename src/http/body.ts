import type { IncomingMessage } from 'node:http'
import { timers } from '../timers.ts'
import { nodeOf } from './node-request.ts'
import { Refusal } from '../model/refusal.ts'
import { COUNT_BYTES, jsonAdvice, placeOfError } from '../model/text/advice.ts'

/** Deepest accepted nesting: more than any check needs, too little to exhaust the stack (contract section 4). */
const DEEPEST_NESTING = 32

/**
 * Reads the JSON body of a request. Refuses other content types (415), more than `limit` bytes (413, while reading), and
 * invalid UTF-8, a byte-order mark, invalid JSON or deep nesting (400). `onText` gets the whole body for the log, also of
 * a refused one; bytes above 127 of invalid UTF-8 are written as `\xe9`.
 */
export async function readJson(
  request: Request,
  limit: number,
  onText: (text: string) => void,
): Promise<unknown> {
  const refused = whyNotJson(request.headers)
  if (refused !== undefined) {
    // Reads the body for the log only. The response stays the refusal of the content type.
    if (!expectsContinue(request))
      await readBytes(request, limit).then(
        (bytes) => onText(shownText(bytes)),
        () => {},
      )
    throw refused
  }
  const bytes = await readBytes(request, limit)
  const text = decode(bytes)
  onText(text ?? shownText(bytes))
  if (text === undefined) throw notUtf8(bytes)
  const value = parseJson(text)
  if (/\\ud[89a-f]/i.test(text) && hasHalfPair(text))
    throw new Refusal(
      'invalid_json',
      'The body has half of a surrogate pair, as of an emoji that was cut. Cut texts between characters.',
    )
  return value
}

/** Returns true when a text of the JSON has half of a surrogate pair, which many parsers of JSON refuse. */
function hasHalfPair(text: string): boolean {
  const half = /\p{Surrogate}/u
  let isFound = false
  JSON.parse(text, (key, value: unknown) => {
    isFound ||= half.test(key) || (typeof value === 'string' && half.test(value))
    return value
  })
  return isFound
}

/**
 * Passes the chunks of a JSON body to `take` as they arrive. Refuses other content types (415) and more than `limit`
 * bytes (413). Rejects with the error that `take` throws.
 */
export async function readChunks(
  request: Request,
  limit: number,
  take: (chunk: Uint8Array) => void,
): Promise<void> {
  const refused = whyNotJson(request.headers)
  if (refused !== undefined) {
    // Read to the end, so that the refusal reaches the sender.
    if (!expectsContinue(request)) await receive(request, limit, () => {}).catch(() => {})
    throw refused
  }
  await receive(request, limit, take, true)
}

/** Returns the refusal of bytes that are not UTF-8. */
export function notUtf8(bytes: Uint8Array): Refusal {
  const [first, second] = bytes
  if (first === 0x1f && second === 0x8b)
    return new Refusal('invalid_json', 'The body is compressed. Send it without compression.')
  // The last byte of a body in another encoding is that of a bracket.
  if ((bytes.at(-1) ?? 0) > 0x7f && isStartOfUtf8(bytes))
    return new Refusal('invalid_json', `The body ends in the middle of a character. ${COUNT_BYTES}`)
  const isUtf16 = (first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff)
  return new Refusal(
    'invalid_json',
    `The body is ${isUtf16 ? 'UTF-16' : 'not valid UTF-8'}. Encode it as UTF-8, without a byte-order mark.`,
  )
}

/** Returns true for UTF-8 whose last character may be incomplete. */
function isStartOfUtf8(bytes: Uint8Array): boolean {
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(bytes, { stream: true })
    return true
  } catch {
    return false
  }
}

/** Returns true when the client may wait with its body until it is asked for. */
function expectsContinue({ headers }: Request): boolean {
  return /^100-continue$/i.test(headers.get('expect') ?? '')
}

/** Returns the refusal of headers that announce another type, charset or encoding than plain UTF-8 JSON. */
function whyNotJson(headers: Headers): Refusal | undefined {
  const contentType = headers.get('content-type')
  if (contentType === null || !/^\s*application\/json\s*(;|$)/i.test(contentType))
    return unsupported(
      contentType === null
        ? 'The request has no Content-Type.'
        : `The request has Content-Type ${contentType.slice(0, 100)}.`,
    )
  const charset = /;\s*charset\s*=\s*"?([^\s;"]*)/i.exec(contentType)?.[1]
  if (charset !== undefined && !/^utf-?8$/i.test(charset))
    return unsupported(`The request has charset ${charset.slice(0, 100)}.`)
  const encoding = headers.get('content-encoding') ?? 'identity'
  if (encoding.toLowerCase() !== 'identity')
    return unsupported(`The request has Content-Encoding ${encoding.slice(0, 100)}.`)
  return undefined
}

function unsupported(what: string): Refusal {
  return new Refusal(
    'unsupported_media_type',
    `${what} Send Content-Type: application/json, in UTF-8 and uncompressed.`,
  )
}

async function readBytes(request: Request, limit: number): Promise<Buffer> {
  const chunks: Uint8Array[] = []
  await receive(request, limit, (chunk) => chunks.push(chunk))
  const [only] = chunks
  return chunks.length === 1 && Buffer.isBuffer(only) ? only : Buffer.concat(chunks)
}

const longBodies = new WeakMap<IncomingMessage, number>()

/** Returns the bytes that {@link readChunks} has read of a body; 0 for other bodies. */
export function bytesOfLongBody(message: IncomingMessage): number {
  return longBodies.get(message) ?? 0
}

const broken = new WeakMap<IncomingMessage, Refusal>()
const BROKEN = Symbol('broken')

/** Aborts the reading of an incomplete body; `refusal` becomes the response. */
export function breakOffBody(message: IncomingMessage, refusal: Refusal): void {
  broken.set(message, refusal)
  message.emit(BROKEN, refusal)
}

/**
 * Reads Node's message by its events, which is several times faster than a web stream or an iterator. With `pause`, yields
 * to other requests after each chunk, because Node reads up to 2 MiB at once.
 */
function receive(
  request: Request,
  limit: number,
  take: (chunk: Uint8Array) => void,
  pause = false,
): Promise<void> {
  const announced = Number(request.headers.get('content-length') ?? 0)
  if (announced > limit) return Promise.reject(tooLarge(limit))
  const message = nodeOf(request).req
  if (message === undefined) return receiveStream(request.body, limit, take)
  return new Promise((resolve, reject) => {
    const refusal = broken.get(message)
    if (refusal !== undefined) return reject(refusal)
    // The client left before the body was read: no event follows.
    if (message.destroyed) return reject(brokenOff())
    let left = limit
    const fail = (error: Error) => {
      // Drops the rest of the body, so that the refusal reaches the sender.
      left = -1
      reject(error)
    }
    message.once(BROKEN, fail)
    message.on('data', (chunk: Buffer) => {
      if (left < 0) return
      left -= chunk.length
      if (left < 0) return fail(tooLarge(limit))
      try {
        take(chunk)
      } catch (error) {
        fail(error as Error)
      }
      if (pause) {
        longBodies.set(message, bytesOfLongBody(message) + chunk.length)
        message.pause()
        timers.setImmediate(() => message.resume())
      }
    })
    message.on('end', () => resolve())
    message.on('error', () => fail(brokenOff()))
    message.on('close', () => {
      if (!message.readableEnded) fail(brokenOff())
    })
  })
}

async function receiveStream(
  body: AsyncIterable<Uint8Array> | null,
  limit: number,
  take: (chunk: Uint8Array) => void,
): Promise<void> {
  let left = limit
  for await (const chunk of unbroken(body)) {
    left -= chunk.byteLength
    if (left < 0) throw tooLarge(limit)
    take(chunk)
  }
}

async function* unbroken(body: AsyncIterable<Uint8Array> | null): AsyncGenerator<Uint8Array> {
  try {
    if (body !== null) yield* body
  } catch {
    throw brokenOff()
  }
}

function brokenOff(): Refusal {
  return new Refusal(
    'invalid_request',
    'The connection ended before the whole body was read. Send the request again.',
  )
}

function tooLarge(limit: number): Refusal {
  return new Refusal(
    'payload_too_large',
    `The body is longer than the limit of ${limit} bytes. Send a shorter body.`,
    { limit },
  )
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** Decodes UTF-8; `undefined` when the bytes are invalid. */
export function decode(bytes: Uint8Array): string | undefined {
  try {
    return utf8.decode(bytes)
  } catch {
    return undefined
  }
}

/** Returns the body as text; for invalid UTF-8 with bytes above 127 as `\xe9`, so that different bodies stay different. */
function shownText(bytes: Buffer): string {
  const text = decode(bytes)
  if (text !== undefined) return text
  return bytes.toString('latin1').replace(/[\x80-\xff]/g, (byte) => `\\x${byte.charCodeAt(0).toString(16)}`)
}

/** @throws Refusal `invalid_json` for invalid JSON, a byte-order mark or deep nesting. */
export function parseJson(text: string): unknown {
  if (text.startsWith('\uFEFF'))
    throw new Refusal('invalid_json', 'The body starts with a byte-order mark. Send the JSON without it.')
  if (text.trim() === '')
    throw new Refusal('invalid_json', 'The body is empty. Send a JSON object, such as {}.')
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    throw notJson(text, error)
  }
  if (nestsDeeperThan(DEEPEST_NESTING, value))
    throw new Refusal(
      'invalid_json',
      `The body is nested deeper than the limit of ${DEEPEST_NESTING} levels. Send a flatter body.`,
    )
  return value
}

/** Returns the refusal of a text that is not JSON, with the place, but without an excerpt: bodies may contain secrets. */
function notJson(text: string, error: unknown): Refusal {
  const message = String(error instanceof Error ? error.message : error)
  const [reason = 'it cannot be parsed'] = message.split(/, (?:\.\.\.)?"|: (?:\.\.\.)?"| in JSON at/)
  const place = placeOfError(text, message)
  const where = place && ` at line ${place.line}, column ${place.column}`
  const isCut = place?.index === text.length && /[^\0-\x7f]/.test(text)
  const advice = isCut ? `It ends too early. ${COUNT_BYTES}` : place && jsonAdvice(text, place.index)
  const what = `The body is not valid JSON: ${reason}${where ?? ''}.`
  return new Refusal('invalid_json', advice === undefined ? what : `${what} ${advice}`)
}

/** Returns true for deeper nesting. Stops at the limit, so that a deep body cannot exhaust the stack. */
function nestsDeeperThan(limit: number, value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false
  if (limit === 0) return true
  return Object.values(value).some((inner) => nestsDeeperThan(limit - 1, inner))
}
