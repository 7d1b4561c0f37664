import { circumstances, clockAdvice } from './circumstances.ts'
import { secretsOf } from './given.ts'
import { parseHeader, type SignatureHeader } from './header.ts'
import { headerForms, type HeaderMistake } from './header-forms.ts'
import type { SignatureFailure, VerifyOptions } from './judge.ts'
import { mistakes, type Mistake as SignatureMistake } from './mistakes.ts'
import { textOfUtf16 } from './utf16.ts'
import { isMilliseconds } from './variants.ts'
import { verify } from './verify.ts'

export interface DiagnoseOptions extends VerifyOptions {
  payload: string | Uint8Array
  /** Secrets of other endpoints, one of which may have signed by mistake. */
  others?: readonly string[] | undefined
  /** All headers of the request, among which the signature may stand under another name. */
  headers?: readonly (readonly [name: string, value: string])[] | undefined
}

export type Mistake = SignatureMistake | HeaderMistake | keyof typeof circumstances | 'clock_off'

/** Why a delivery does not verify: which slip would explain it exactly, and what to do about it. */
export interface Diagnosis {
  mistake: Mistake
  advice: string
}

/**
 * Names the likely mistake behind a delivery that does not verify, for a developer at work on a receiver or a sender.
 * Not for production: it tries signatures that no receiver should accept. `undefined` when the signature verifies and
 * when no known slip explains it.
 *
 * @throws TypeError as `verify` does.
 * @example
 * diagnose({ payload: JSON.stringify(request.body), header, secret: 'whsec_…' })?.mistake // 'json_reserialised'
 */
export function diagnose({ now = Date.now(), ...given }: DiagnoseOptions): Diagnosis | undefined {
  const options = { ...given, now: Number(now) }
  const result = verify(options)
  if (result.ok) return undefined
  const header = parseHeader(options.header)
  if ('ok' in header) return headerMistake(options)
  if (result.code !== 'signature_mismatch') return clockMistake(options.now, header, result)
  const row = explanation(options, header)
  return row === undefined ? (headerMistake(options) ?? circumstance(options)) : named(row)
}

/** Signed and sent in milliseconds, all agrees but the clock: some fifty thousand years ahead. */
function clockMistake(
  now: number,
  { t, timestamp }: SignatureHeader,
  { code }: SignatureFailure,
): Diagnosis | undefined {
  if (code === 'timestamp_in_future' && isMilliseconds(t))
    return named(mistakes.find(({ mistake }) => mistake === 'timestamp_in_milliseconds'))
  const ahead = timestamp - Math.floor(now / 1000)
  return { mistake: 'clock_off', advice: clockAdvice(ahead) }
}

function explanation({ payload, secret }: DiagnoseOptions, { t, v1 }: SignatureHeader) {
  const body = Buffer.from(payload)
  const givens = secretsOf(secret).map((one) => ({ t, body, secret: one }))
  return mistakes.find(({ signatures }) =>
    givens.some((given) => signatures(given).some((signature) => v1.includes(signature))),
  )
}

function headerMistake(options: DiagnoseOptions): Diagnosis | undefined {
  const { header, headers = [] } = options
  if (typeof header === 'string')
    return named(
      headerForms.find(({ repair }) => repair(header) !== header && isSigned(options, repair(header))),
    )
  return headers.some(([, value]) => isSigned(options, value))
    ? circumstantial('header_other_name')
    : undefined
}

function circumstance(options: DiagnoseOptions): Diagnosis | undefined {
  const { payload, secret, others = [], header } = options
  const other = others.find((one) => one !== '' && isSigned({ ...options, secret: one }, header))
  if (secretsOf(secret).some(isApiKey) || (other !== undefined && isApiKey(other)))
    return circumstantial('api_key_as_secret')
  if (other !== undefined) return circumstantial('secret_of_another_endpoint')
  if (textOfUtf16(Buffer.from(payload)) !== undefined) return circumstantial('body_utf16')
  return payload.length === 0 ? circumstantial('body_empty') : undefined
}

/** Whether the signature is right, however old. */
function isSigned(options: VerifyOptions, header: VerifyOptions['header']): boolean {
  return verify({ ...options, header, tolerance: Infinity }).ok
}

function isApiKey(secret: string): boolean {
  return /^\s*(Bearer\s+)?twk_/.test(secret)
}

function circumstantial(mistake: keyof typeof circumstances): Diagnosis {
  return { mistake, advice: circumstances[mistake] }
}

function named(row: Diagnosis | undefined): Diagnosis | undefined {
  return row && { mistake: row.mistake, advice: row.advice }
}
