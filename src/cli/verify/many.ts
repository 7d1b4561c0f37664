import { textOfUtf16, UTF16_ADVICE } from '../../signature/diagnose/utf16.ts'
import { CommandError, exitCodes, usageError } from '../errors.ts'

/** What one line of a file of many gives to verify. */
export interface Line {
  number: number
  header: string | undefined
  payload: Buffer
}

/**
 * Reads NDJSON: on each line `header` and `body` (text), or `body_base64` where the body is no text. Blank lines are passed
 * over.
 * @throws CommandError (usage) naming the first line that is something else.
 */
export function parseMany(bytes: Buffer): Line[] {
  if (textOfUtf16(bytes) !== undefined)
    throw new CommandError('utf16_capture', `The file of --many is UTF-16. ${UTF16_ADVICE}`, exitCodes.usage)
  const lines = bytes.toString().split('\n')
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
  return usageError(`Line ${number} is not of the form {"header": "t=…,v1=…", "body": "…"} (or body_base64).`)
}
