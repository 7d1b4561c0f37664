import type { IncomingMessage } from 'node:http'
import { timers } from '../timers.ts'
import { nodeOf } from './node-request.ts'
import { Refusal } from '../model/refusal.ts'

/** Deeper than any check, shallower than what could hurt (contract section 4). */
const DEEPEST_NESTING = 32

/**
 * Reads a request's JSON. Refuses what is not `application/json` (415), is longer than `limit` bytes (413, while
 * reading), is no UTF-8, begins with a byte-order mark, is no JSON text or nests too deeply (400). `onText` gets the whole
 * body for the log, also when it is refused; of one that is not UTF-8, bytes above 127 are written as `\xe9`.
 */
export async function readJson(
  request: Request,
  limit: number,
  onText: (text: string) => void,
): Promise<unknown> {
  const refused = whyNotJson(request.headers)
  if (refused !== undefined) {
    await readBytes(request, limit).then((bytes) => onText(shownText(bytes)), ignore)
    throw refused
  }
  const bytes = await readBytes(request, limit)
  const text = decode(bytes)
  onText(text ?? shownText(bytes))
  if (text === undefined) throw notUtf8()
  return parseJson(text)
}

/**
 * Hands on the chunks of a body that shall be JSON, as they arrive, and reads on while `take` works. Refuses what is not
 * `application/json` (415) and what is longer than `limit` bytes (413). Rejects with what `take` throws.
 */
export async function readChunks(
  request: Request,
  limit: number,
  take: (chunk: Uint8Array) => void,
): Promise<void> {
  const refused = whyNotJson(request.headers)
  if (refused !== undefined) {
    await receive(request, limit, ignore).catch(ignore)
    throw refused
  }
  await receive(request, limit, take, true)
}

/** The refusal of bytes that are not UTF-8. */
export function notUtf8(): Refusal {
  return new Refusal(
    'invalid_json',
    'The body is not valid UTF-8. Encode it as UTF-8, without a byte-order mark.',
  )
}

/** The refusal of what is not UTF-8 JSON as it is: another charset or a compressed body would be guessed at. */
function whyNotJson(headers: Headers): Refusal | undefined {
  const contentType = headers.get('content-type')
  if (contentType === null || !/^\s*application\/json\s*(;|$)/i.test(contentType))
    return unsupported(
      contentType === null
        ? 'The body has no Content-Type.'
        : `The body has Content-Type ${contentType.slice(0, 100)}.`,
    )
  const charset = /;\s*charset\s*=\s*"?([^\s;"]*)/i.exec(contentType)?.[1]
  if (charset !== undefined && !/^utf-?8$/i.test(charset))
    return unsupported(`The body has charset ${charset.slice(0, 100)}.`)
  const encoding = headers.get('content-encoding') ?? 'identity'
  if (encoding.toLowerCase() !== 'identity')
    return unsupported(`The body has Content-Encoding ${encoding.slice(0, 100)}.`)
  return undefined
}

function unsupported(what: string): Refusal {
  return new Refusal(
    'unsupported_media_type',
    `${what} Send it as Content-Type: application/json, in UTF-8 and not compressed.`,
  )
}

async function readBytes(request: Request, limit: number): Promise<Buffer> {
  const chunks: Uint8Array[] = []
  await receive(request, limit, (chunk) => chunks.push(chunk))
  const [only] = chunks
  return chunks.length === 1 && Buffer.isBuffer(only) ? only : Buffer.concat(chunks)
}

/** With `pause`, others have their turn after each chunk: Node reads up to 2 MiB at once. */
function receive(
  request: Request,
  limit: number,
  take: (chunk: Uint8Array) => void,
  pause = false,
): Promise<void> {
  const announced = Number(request.headers.get('content-length') ?? 0)
  if (announced > limit) return Promise.reject(tooLarge(limit))
  const message = nodeOf(request).req
  return message === undefined
    ? receiveStream(request.body, limit, take)
    : receiveMessage(message, limit, take, pause)
}

const longBodies = new WeakMap<IncomingMessage, number>()

/** How much of a body was read that {@link readChunks} reads, in bytes; 0 of any other. */
export function bytesOfLongBody(message: IncomingMessage): number {
  return longBodies.get(message) ?? 0
}

const broken = new WeakMap<IncomingMessage, Refusal>()
const BROKEN = Symbol('broken')

/** Ends the reading of a body that will never be whole; `refusal` becomes the answer to its request. */
export function breakOffBody(message: IncomingMessage, refusal: Refusal): void {
  broken.set(message, refusal)
  message.emit(BROKEN, refusal)
}

/** From Node's own message, by its events: several times quicker than by a web stream or an iterator. */
function receiveMessage(
  message: IncomingMessage,
  limit: number,
  take: (chunk: Buffer) => void,
  pause: boolean,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const refusal = broken.get(message)
    if (refusal !== undefined) return reject(refusal)
    let left = limit
    const fail = (error: Error) => {
      // What still comes is let go by, so that the refusal reaches its sender.
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
      if (!message.complete) fail(brokenOff())
    })
  })
}

async function receiveStream(
  body: AsyncIterable<Uint8Array> | null,
  limit: number,
  take: (chunk: Uint8Array) => void,
): Promise<void> {
  let left = limit
  for await (const chunk of body ?? nothing()) {
    left -= chunk.byteLength
    if (left < 0) throw tooLarge(limit)
    take(chunk)
  }
}

async function* nothing(): AsyncGenerator<Uint8Array> {}

function brokenOff(): Refusal {
  return new Refusal('invalid_request', 'The body ended before it was whole. Send it again.')
}

function tooLarge(limit: number): Refusal {
  return new Refusal(
    'payload_too_large',
    `The body is longer than ${limit} bytes, the most that is accepted.`,
    { limit },
  )
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** `undefined` for what is not UTF-8. */
export function decode(bytes: Uint8Array): string | undefined {
  try {
    return utf8.decode(bytes)
  } catch {
    return undefined
  }
}

/** The body as a text; when it is not UTF-8, each byte above 127 as `\xe9`, so that different bodies stay different. */
function shownText(bytes: Buffer): string {
  const text = decode(bytes)
  if (text !== undefined) return text
  return bytes.toString('latin1').replace(/[\x80-\xff]/g, (byte) => `\\x${byte.charCodeAt(0).toString(16)}`)
}

function ignore(): void {}

/** @throws Refusal `invalid_json` for a text that is not JSON, begins with a byte-order mark or nests too deeply. */
export function parseJson(text: string): unknown {
  if (text.startsWith('\uFEFF'))
    throw new Refusal(
      'invalid_json',
      'The body begins with a byte-order mark. Send the JSON text without it.',
    )
  const value = parseText(text)
  if (nestsDeeperThan(DEEPEST_NESTING, value))
    throw new Refusal(
      'invalid_json',
      `The body nests deeper than ${DEEPEST_NESTING} levels, the most that is accepted.`,
    )
  return value
}

function parseText(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw new Refusal('invalid_json', `The body is not a JSON text: ${reasonOf(error)}.`)
  }
}

/** V8's words without the excerpt of the body that it appends. */
function reasonOf(error: unknown): string {
  const [reason] = String(error instanceof Error ? error.message : error).split(
    /, (?:\.\.\.)?"|: (?:\.\.\.)?"| in JSON at/,
  )
  return reason ?? 'it cannot be parsed'
}

/** Looks no deeper than the limit, so that the depth of a body costs no stack. */
function nestsDeeperThan(limit: number, value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false
  if (limit === 0) return true
  for (const key in value)
    if (nestsDeeperThan(limit - 1, (value as Record<string, unknown>)[key])) return true
  return false
}
