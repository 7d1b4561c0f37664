import type { DiagnoseOptions, Diagnosis, Verification } from '../signature/index.ts'
import { verify } from '../signature/verify.ts'
import { CommandError, exitCodes, usageError } from './errors.ts'
import { withoutByteOrderMark } from './files/input.ts'

/** Result of a verification and, when it fails for a known reason, the mistake. */
export interface VerifyOutcome {
  result: Verification
  diagnosis: Diagnosis | undefined
}

/**
 * Verifies a signature and, when it is wrong, looks for the mistake.
 * @throws CommandError (usage) for a malformed secret.
 */
export async function verifyAndDiagnose(options: DiagnoseOptions): Promise<VerifyOutcome> {
  const result = verified(options)
  if (result.ok) return { result, diagnosis: undefined }
  // Loaded late: most signatures are valid.
  const { diagnose } = await import('../signature/diagnose/diagnose.ts')
  return { result, diagnosis: diagnose(options) }
}

function verified(options: DiagnoseOptions): Verification {
  try {
    return verify(options)
  } catch (error) {
    throw usageError(error instanceof Error ? error.message : String(error))
  }
}

/** Returns the outcome for `--json`. */
export function outcomeJson({ result, diagnosis }: VerifyOutcome): object {
  return { ...result, ...(diagnosis && { mistake: diagnosis.mistake, advice: diagnosis.advice }) }
}

/** Counts valid signatures and mistakes; failures without a known mistake are counted by their code. */
export function countOutcomes(outcomes: readonly VerifyOutcome[]) {
  const mistakes: Record<string, number> = {}
  for (const { result, diagnosis } of outcomes) {
    if (result.ok) continue
    const name = diagnosis?.mistake ?? result.code
    mistakes[name] = (mistakes[name] ?? 0) + 1
  }
  const right = outcomes.filter(({ result }) => result.ok).length
  return { total: outcomes.length, right, wrong: outcomes.length - right, mistakes }
}

/** @throws CommandError (usage) that names `what` when a capture is UTF-16. */
export async function requireNoUtf16(capture: Buffer, what: string): Promise<void> {
  // Loaded late: most signatures are given by --header.
  const { textOfUtf16, UTF16_ADVICE } = await import('../signature/diagnose/body-variants.ts')
  if (textOfUtf16(capture) !== undefined)
    throw new CommandError('utf16_capture', `${what} is UTF-16. ${UTF16_ADVICE}`, exitCodes.usage)
}

/** One line of a `--many` file. */
interface Line {
  number: number
  header: string | undefined
  payload: Buffer
}

/**
 * Parses NDJSON: each line has `header` and `body` (text), or `body_base64` for bytes. Skips blank lines.
 * @throws CommandError (usage) that names the first wrong line.
 */
export function parseMany(bytes: Buffer): Line[] {
  const lines = withoutByteOrderMark(bytes.toString()).split('\n')
  return lines.flatMap((text, at) => (text.trim() === '' ? [] : [parseLine(text, at + 1)]))
}

function parseLine(text: string, number: number): Line {
  const { header, body, body_base64: base64 } = parseObject(text, number)
  if (header !== undefined && header !== null && typeof header !== 'string') throw unreadable(number)
  if (typeof body !== 'string' && typeof base64 !== 'string') throw unreadable(number)
  const payload = typeof body === 'string' ? Buffer.from(body) : Buffer.from(String(base64), 'base64')
  return { number, header: header ?? undefined, payload }
}

function parseObject(text: string, number: number): Record<string, unknown> {
  try {
    return Object(JSON.parse(text)) as Record<string, unknown>
  } catch {
    throw unreadable(number)
  }
}

function unreadable(number: number): CommandError {
  return usageError(`--many: line ${number} must be {"header": "t=…,v1=…", "body": "…"} (or body_base64).`)
}

interface RawRequest {
  headers: readonly (readonly [name: string, value: string])[]
  body: Buffer
}

/**
 * Parses a captured HTTP/1 request: the lines of the head end in CRLF or LF, and the first blank line ends the head. Skips
 * a byte-order mark and blank lines before the head, which editors add. Folded lines stay folded, since they may be the
 * mistake. Decodes a chunked body; cuts a body that is longer than its Content-Length.
 * @throws CommandError (usage) that names `source` when there is no head.
 */
export function parseRawRequest(file: Buffer, source: string): RawRequest {
  const [before = ''] = /^(?:\xef\xbb\xbf)?[\r\n]*/.exec(file.toString('latin1')) ?? []
  const bytes = file.subarray(before.length)
  const text = bytes.toString('latin1')
  const end = /\r?\n\r?\n/.exec(text)
  const head = text.slice(0, end?.index ?? text.length)
  const [first = '', ...lines] = head.replace(/\r?\n[ \t]+/g, CONTINUATION).split(/\r?\n/)
  if (!/^[A-Z]+ \S+( HTTP\/\d(\.\d)?)?$/.test(first))
    throw new CommandError(
      'unreadable_request',
      `--request: ${source} is not an HTTP request. It must begin with a line such as POST /webhooks HTTP/1.1, followed by headers, a blank line and the body.`,
      exitCodes.usage,
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
              .replaceAll(CONTINUATION, '\r\n '),
          ] as const,
        ]
      : []
  })
  const rest = end === null ? Buffer.alloc(0) : bytes.subarray(end.index + end[0].length)
  return { headers, body: bodyOf(headers, rest) }
}

/** Replaces the line break of a folded header while lines are split. */
const CONTINUATION = '\u0000'

/** Returns the values of a header; names match in any case. */
export function valuesOf({ headers }: Pick<RawRequest, 'headers'>, wanted: string): string[] {
  return headers.filter(([name]) => name.toLowerCase() === wanted.toLowerCase()).map(([, value]) => value)
}

function bodyOf(headers: RawRequest['headers'], rest: Buffer): Buffer {
  if (/chunked/i.test(valuesOf({ headers }, 'transfer-encoding').join())) return unchunked(rest) ?? rest
  const length = Number(valuesOf({ headers }, 'content-length')[0] ?? NaN)
  return length < rest.length ? rest.subarray(0, length) : rest
}

/** Decodes chunks; `undefined` when the body is not chunked, since captures often show it decoded. */
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
