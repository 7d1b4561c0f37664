import { textOfUtf16, UTF16_ADVICE } from '../../signature/diagnose/utf16.ts'
import { CommandError } from '../errors.ts'

export interface RawRequest {
  headers: readonly (readonly [name: string, value: string])[]
  body: Buffer
}

/**
 * Reads an HTTP/1 request as it was captured: the lines of the head end in CRLF or LF, a first blank line ends it. Folded
 * lines stay folded, since they may be the mistake. A body in chunks is put together; one that is longer than its
 * Content-Length was followed by something else.
 * @throws CommandError when there is no head, or the capture is UTF-16.
 */
export function parseRawRequest(bytes: Buffer): RawRequest {
  if (textOfUtf16(bytes) !== undefined)
    throw new CommandError('utf16_capture', `This capture of a request is UTF-16. ${UTF16_ADVICE}`)
  const text = bytes.toString('latin1')
  const end = /\r?\n\r?\n/.exec(text)
  const head = text.slice(0, end?.index ?? text.length)
  const [first = '', ...lines] = head.replace(/\r?\n[ \t]+/g, FOLD).split(/\r?\n/)
  if (!/^[A-Z]+ \S+( HTTP\/\d(\.\d)?)?$/.test(first))
    throw new CommandError(
      'unreadable_request',
      'This is no HTTP request: it must begin with a line such as POST /webhooks HTTP/1.1, then headers, a blank line and the body.',
    )
  const headers = lines.flatMap((line) => {
    const at = line.indexOf(':')
    return at > 0
      ? [
          [
            line.slice(0, at),
            line
              .slice(at + 1)
              .trim()
              .replaceAll(FOLD, '\r\n '),
          ] as const,
        ]
      : []
  })
  const rest = end === null ? Buffer.alloc(0) : bytes.subarray(end.index + end[0].length)
  return { headers, body: bodyOf(headers, rest) }
}

/** Stands for a fold while lines are told apart. */
const FOLD = '\u0000'

/** The values of a header, whatever the case of its name. */
export function valuesOf({ headers }: Pick<RawRequest, 'headers'>, wanted: string): string[] {
  return headers.filter(([name]) => name.toLowerCase() === wanted.toLowerCase()).map(([, value]) => value)
}

function bodyOf(headers: RawRequest['headers'], rest: Buffer): Buffer {
  if (/chunked/i.test(valuesOf({ headers }, 'transfer-encoding').join())) return unchunked(rest) ?? rest
  const length = Number(valuesOf({ headers }, 'content-length')[0] ?? NaN)
  return length < rest.length ? rest.subarray(0, length) : rest
}

/** Nothing when these are no chunks: captures often show the body already put together. */
function unchunked(rest: Buffer): Buffer | undefined {
  const chunks: Buffer[] = []
  for (let at = 0; ;) {
    const line = /^([0-9a-f]+)[^\r\n]*\r?\n/i.exec(rest.subarray(at, at + 64).toString('latin1'))
    if (line?.[1] === undefined) return undefined
    const size = Number.parseInt(line[1], 16)
    if (size === 0) return Buffer.concat(chunks)
    const start = at + line[0].length
    chunks.push(rest.subarray(start, start + size))
    at = start + size + (rest[start + size] === 13 ? 2 : 1)
  }
}
