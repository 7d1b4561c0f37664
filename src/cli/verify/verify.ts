import {
  diagnose,
  verify,
  type DiagnoseOptions,
  type Diagnosis,
  type Verification,
} from '../../signature/index.ts'
import { usageError, CommandError, exitCodes } from '../errors.ts'
import { textOfUtf16, UTF16_ADVICE } from '../../signature/diagnose/utf16.ts'

/** A verdict and, when it is bad and known why, the mistake. */
export interface Judgement {
  result: Verification
  diagnosis: Diagnosis | undefined
}

/** @throws CommandError (usage) for a secret that cannot be one: that is no wrong signature. */
export function judge(options: DiagnoseOptions): Judgement {
  try {
    const result = verify(options)
    return { result, diagnosis: result.ok ? undefined : diagnose(options) }
  } catch (error) {
    throw usageError(error instanceof Error ? error.message : String(error))
  }
}

/** As `--json` shows it. */
export function viewJudgement({ result, diagnosis }: Judgement): object {
  return { ...result, ...(diagnosis && { mistake: diagnosis.mistake, advice: diagnosis.advice }) }
}

/** How many were right, and how many made which mistake; those that have none are counted by their code. */
export function tally(judgements: readonly Judgement[]) {
  const mistakes: Record<string, number> = {}
  for (const { result, diagnosis } of judgements) {
    if (result.ok) continue
    const name = diagnosis?.mistake ?? result.code
    mistakes[name] = (mistakes[name] ?? 0) + 1
  }
  const right = judgements.filter(({ result }) => result.ok).length
  return { total: judgements.length, right, wrong: judgements.length - right, mistakes }
}

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
