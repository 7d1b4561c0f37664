import { bodyMistakes } from './body-mistakes.ts'
import { digestMistakes } from './digest-mistakes.ts'
import { secretMistakes } from './secret-mistakes.ts'
import { timestampMistakes } from './timestamp-mistakes.ts'

/**
 * The slips that people make: the narrower before the wider, which explains it too, and the dearest last. A slip is found
 * only when it explains the signature to the last bit, so one more can never blame wrongly; it costs one HMAC or a few.
 */
export const mistakes = [...bodyMistakes, ...secretMistakes, ...digestMistakes, ...timestampMistakes]

export type Mistake = (typeof mistakes)[number]['mistake']
