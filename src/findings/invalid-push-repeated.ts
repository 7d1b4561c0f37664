import type { PushRefusal } from './finding.ts'

/** Refusals that only another body, or another Content-Type, can avoid. */
const INVALID: readonly string[] = ['invalid_json', 'unsupported_media_type', 'validation_failed']

/** Returns true when the refusal is due to the body, so that the same body will be refused again. */
export function refusesTheBody(code: string): boolean {
  return INVALID.includes(code)
}

/** Finds a refused body that was repeated unchanged and refused with the same code. */
export function invalidPushRepeated({
  status,
  code,
  refusedBefore,
}: Pick<PushRefusal, 'status' | 'code'> & { refusedBefore: boolean }): string | undefined {
  if (!refusedBefore || !refusesTheBody(code)) return undefined
  return `This body was refused with ${status} ${code} before and was sent again unchanged. The response stays the same until the body is corrected. Retry a push only after a 5xx, a 429 or a broken connection.`
}
