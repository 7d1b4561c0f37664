import {
  diagnose,
  verify,
  type DiagnoseOptions,
  type Diagnosis,
  type Verification,
} from '../../signature/index.ts'
import { usageError, CommandError, exitCodes } from '../errors.ts'
import { textOfUtf16, UTF16_ADVICE } from '../../signature/diagnose/body-variants.ts'

/** Result of a verification and, when it fails for a known reason, the mistake. */
export interface VerifyOutcome {
  result: Verification
  diagnosis: Diagnosis | undefined
}

/**
 * Verifies a signature and, when it is wrong, looks for the mistake.
 * @throws CommandError (usage) for a malformed secret.
 */
export function verifyAndDiagnose(options: DiagnoseOptions): VerifyOutcome {
  try {
    const result = verify(options)
    return { result, diagnosis: result.ok ? undefined : diagnose(options) }
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

/** One line of a `--many` file. */
export interface Line {
  number: number
  header: string | undefined
  payload: Buffer
}

/**
 * Parses NDJSON: each line has `header` and `body` (text), or `body_base64` for bytes. Skips blank lines.
 * @throws CommandError (usage) that names the first wrong line.
 */
export function parseMany(bytes: Buffer): Line[] {
  if (textOfUtf16(bytes) !== undefined)
    throw new CommandError('utf16_capture', `--many: the file is UTF-16. ${UTF16_ADVICE}`, exitCodes.usage)
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
  return usageError(`--many: line ${number} must be {"header": "t=…,v1=…", "body": "…"} (or body_base64).`)
}
