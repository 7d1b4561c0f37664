import type { IncomingMessage } from 'node:http'
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
  if (text === undefined)
    throw new Refusal(
      'invalid_json',
      'The body is not valid UTF-8. Encode it as UTF-8, without a byte-order mark.',
    )
  return parse(text)
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

function readBytes(request: Request, limit: number): Promise<Buffer> {
  const announced = Number(request.headers.get('content-length') ?? 0)
  if (announced > limit) throw tooLarge(limit)
  const { runtime } = request as Request & { runtime?: { node?: { req?: IncomingMessage } } }
  const message = runtime?.node?.req
  return message === undefined ? collect(request.body, limit) : receive(message, limit)
}

const broken = new WeakMap<IncomingMessage, Refusal>()
const BROKEN = Symbol('broken')

/** Ends the reading of a body that will never be whole; `refusal` becomes the answer to its request. */
export function breakOffBody(message: IncomingMessage, refusal: Refusal): void {
  broken.set(message, refusal)
  message.emit(BROKEN, refusal)
}

/** From Node's own message, by its events: several times quicker than by a web stream or an iterator. */
function receive(message: IncomingMessage, limit: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const refusal = broken.get(message)
    if (refusal !== undefined) return reject(refusal)
    const chunks: Buffer[] = []
    let size = 0
    message.once(BROKEN, reject)
    message.on('data', (chunk: Buffer) => {
      size += chunk.length
      // What comes after the limit is let go by, so that the refusal still reaches its sender.
      if (size <= limit) chunks.push(chunk)
      else reject(tooLarge(limit))
    })
    message.on('end', () => resolve(join(chunks, size)))
    message.on('error', () => reject(brokenOff()))
    message.on('close', () => {
      if (!message.complete) reject(brokenOff())
    })
  })
}

async function collect(body: AsyncIterable<Uint8Array> | null, limit: number): Promise<Buffer> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of body ?? nothing()) {
    size += chunk.byteLength
    if (size > limit) throw tooLarge(limit)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks, size)
}

async function* nothing(): AsyncGenerator<Uint8Array> {}

function join(chunks: readonly Buffer[], size: number): Buffer {
  const [only] = chunks
  return chunks.length === 1 && only !== undefined ? only : Buffer.concat(chunks, size)
}

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
function decode(bytes: Uint8Array): string | undefined {
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

function parse(text: string): unknown {
  if (text.startsWith('\uFEFF'))
    throw new Refusal(
      'invalid_json',
      'The body begins with a byte-order mark. Send the JSON text without it.',
    )
  const value = parseJson(text)
  if (nestsDeeperThan(DEEPEST_NESTING, value))
    throw new Refusal(
      'invalid_json',
      `The body nests deeper than ${DEEPEST_NESTING} levels, the most that is accepted.`,
    )
  return value
}

function parseJson(text: string): unknown {
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
