import { anyMatches } from './digest.ts'
import { parseHeader, type SignatureHeader } from './header.ts'
import { mistakes, type Mistake } from './mistakes.ts'
import { isMilliseconds } from './variants.ts'
import { secretsOf, verify, type VerifyOptions } from './verify.ts'

export type DiagnoseOptions = VerifyOptions

/** Why a signature does not match: which slip would explain it exactly, and what to do about it. */
export interface Diagnosis {
  mistake: Mistake
  advice: string
}

/**
 * Names the likely mistake behind a signature that does not verify, for a developer at work on a receiver or a sender.
 * Not for production: it tries signatures that no receiver should accept. `undefined` when the signature verifies, when
 * no known slip explains it, and when `verify` says all there is to say (a header that cannot be read, a time out of
 * tolerance).
 *
 * @throws TypeError as `verify` does.
 * @example
 * diagnose({ payload: JSON.stringify(request.body), header, secret: 'whsec_…' })?.mistake // 'json_reserialised'
 */
export function diagnose(options: DiagnoseOptions): Diagnosis | undefined {
  const result = verify(options)
  const header = parseHeader(options.header)
  if (result.ok || 'ok' in header) return undefined
  // Signed and sent in milliseconds, all agrees but the clock: some fifty thousand years ahead.
  if (result.code === 'timestamp_in_future' && isMilliseconds(header.t))
    return named(mistakes.find(({ mistake }) => mistake === 'timestamp_in_milliseconds'))
  return result.code === 'signature_mismatch' ? named(explanation(options, header)) : undefined
}

function explanation({ payload, secret }: DiagnoseOptions, { t, v1 }: SignatureHeader) {
  const body = Buffer.from(payload)
  const givens = secretsOf(secret).map((one) => ({ t, body, secret: one }))
  return mistakes.find(({ signatures }) =>
    givens.some((given) => signatures(given).some((signature) => anyMatches(v1, signature))),
  )
}

function named(row: (typeof mistakes)[number] | undefined): Diagnosis | undefined {
  return row && { mistake: row.mistake, advice: row.advice }
}
