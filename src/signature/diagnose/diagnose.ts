import { parseHeader, type SignatureHeader } from '../header.ts'
import { secretsOf } from '../options.ts'
import type { SignatureFailure, VerifyOptions } from '../verification.ts'
import { verify } from '../verify.ts'
import { isMilliseconds, type SignatureMistake, mistakes } from './mistakes.ts'
import { textOfUtf16, UTF16_ADVICE } from './body-variants.ts'

export interface DiagnoseOptions extends VerifyOptions {
  payload: string | Uint8Array
  /** Secrets of other endpoints, one of which may have been used by mistake. */
  others?: readonly string[] | undefined
  /** All headers of the request, since the signature may have another name. */
  headers?: readonly (readonly [name: string, value: string])[] | undefined
}

export type Mistake =
  | SignatureMistake
  | HeaderMistake
  | keyof typeof contextMistakes
  | 'clock_off'
  | 'v1_length'

/** Why a delivery does not verify: the mistake that explains it exactly, and how to fix it. */
export interface Diagnosis {
  mistake: Mistake
  advice: string
}

/**
 * Finds the mistake behind a delivery that does not verify, for developers of receivers and senders. Not for production: it
 * tries signatures that no receiver should accept. `undefined` when the signature verifies or no known mistake explains it.
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
  const row = findMistake(options, header)
  return row === undefined
    ? (headerMistake(options) ?? lengthMistake(header) ?? contextMistake(options))
    : diagnosisOf(row)
}

/** Hex digits of an HMAC-SHA256. */
const DIGITS = 64

/** Diagnoses signatures that all have another number of hex digits, so that none can match. */
function lengthMistake({ v1 }: SignatureHeader): Diagnosis | undefined {
  if (!v1.every((one) => /^[\da-f]*$/i.test(one) && one.length !== DIGITS)) return undefined
  return {
    mistake: 'v1_length',
    advice: `v1 has ${v1.map(({ length }) => length).join(' and ')} hex digits, but must have ${DIGITS}. Pass the whole header, as received.`,
  }
}

/** Diagnoses a wrong time. With `t` in milliseconds the signature matches, but `t` is thousands of years ahead. */
function clockMistake(
  now: number,
  { t, timestamp }: SignatureHeader,
  { code }: SignatureFailure,
): Diagnosis | undefined {
  if (code === 'timestamp_in_future' && isMilliseconds(t))
    return diagnosisOf(mistakes.find(({ mistake }) => mistake === 'timestamp_in_milliseconds'))
  const ahead = timestamp - Math.floor(now / 1000)
  return { mistake: 'clock_off', advice: clockAdvice(ahead) }
}

function findMistake({ payload, secret }: DiagnoseOptions, { t, v1 }: SignatureHeader) {
  const body = Buffer.from(payload)
  const candidates = secretsOf(secret).map((one) => ({ t, body, secret: one }))
  return mistakes.find(({ signatures }) =>
    candidates.some((parts) => signatures(parts).some((signature) => v1.includes(signature))),
  )
}

function headerMistake(options: DiagnoseOptions): Diagnosis | undefined {
  const { header, headers = [] } = options
  if (typeof header === 'string')
    return diagnosisOf(
      headerMistakes.find(({ repair }) => repair(header) !== header && isSigned(options, repair(header))),
    )
  if (Array.isArray(header) && header.length > 1) return contextDiagnosis('header_repeated')
  return headers.some(([, value]) => isSigned(options, value))
    ? contextDiagnosis('header_other_name')
    : undefined
}

function contextMistake(options: DiagnoseOptions): Diagnosis | undefined {
  const { payload, secret, others = [], header, headers = [] } = options
  const other = others.find((one) => one !== '' && isSigned({ ...options, secret: one }, header))
  if (secretsOf(secret).some(isApiKey) || (other !== undefined && isApiKey(other)))
    return contextDiagnosis('api_key_as_secret')
  if (other !== undefined) return contextDiagnosis('secret_of_another_endpoint')
  if (textOfUtf16(Buffer.from(payload)) !== undefined) return contextDiagnosis('body_utf16')
  if (payload.length === 0) return contextDiagnosis('body_empty')
  if (PRINTED.test(Buffer.from(payload).toString('latin1', 0, MOST_PRINTED)))
    return contextDiagnosis('body_printed')
  const [, length] = headers.find(([name]) => name.toLowerCase() === 'content-length') ?? []
  return Number(length) > Buffer.byteLength(payload) ? contextDiagnosis('body_shorter') : undefined
}

/** Beginnings of objects and bytes as Python, Ruby, Go, PHP and Node print them. */
const PRINTED = /^\s*(?:\{'|\{"[^"]*"\s*=>|\{:|map\[|\[object |Array\s*\(|array\(\d|<Buffer |b['"])/

/** Bytes in which such a beginning lies. */
const MOST_PRINTED = 200

/** True when the signature matches, at any age. */
function isSigned(options: VerifyOptions, header: VerifyOptions['header']): boolean {
  return verify({ ...options, header, tolerance: Infinity }).ok
}

function isApiKey(secret: string): boolean {
  return /^\s*(Bearer\s+)?twk_/.test(secret)
}

function contextDiagnosis(mistake: keyof typeof contextMistakes): Diagnosis {
  return { mistake, advice: contextMistakes[mistake] }
}

function diagnosisOf(row: Diagnosis | undefined): Diagnosis | undefined {
  return row && { mistake: row.mistake, advice: row.advice }
}

/** Context mistakes: no signature proves them, they follow from the options. */
export const contextMistakes = {
  header_repeated:
    'The request has several signature headers, and a receiver cannot tell which one counts. Send one header; it may have several v1.',
  header_other_name:
    'The signature is valid, but in another header. Use the header X-<Service>-Signature, or pass --service-name.',
  secret_of_another_endpoint:
    'The signature is from another endpoint, which has another secret. Verify with the secret of the endpoint that received the delivery.',
  api_key_as_secret:
    'An API key is not a signing secret. Use the whsec_… secret that the registration of the endpoint returned.',
  body_utf16: `The payload is UTF-16. ${UTF16_ADVICE}`,
  body_empty:
    'The body is empty. A body parser or a logger probably read it before. Keep the bytes at the first read.',
  body_printed:
    'The payload is an object or bytes as a program prints them, not the body. Save the raw bytes of the request, before any parser.',
  body_shorter:
    'The body has fewer bytes than the Content-Length of the request: it was cut or changed. Save all bytes as received.',
} as const

/** Advice for a clock that differs from `t` by this many seconds. */
function clockAdvice(ahead: number): string {
  const off = Math.abs(ahead)
  const side = ahead > 0 ? 'ahead of' : 'behind'
  const cause = ahead > 0 ? 'One' : 'Either the delivery was verified late, or one'
  const zone = off % 900 < 300 || off % 900 > 600 ? timeZone(off) : ''
  return `The signature is valid, but t is ${off} s ${side} the clock. ${cause} of the two clocks is wrong. Set both clocks by NTP.${zone}`
}

/** Names a time zone when the difference is near a multiple of 15 minutes, the step of time zones, from an hour on. */
function timeZone(seconds: number): string {
  const quarters = Math.round(seconds / 900)
  if (quarters < 4 || quarters > 56) return ''
  return ` The difference is about ${quarters / 4} h: was local time used as UTC?`
}

interface HeaderMistakeRule {
  mistake: string
  advice: string
  /** Returns the header without the mistake; unchanged when it has none. */
  repair(header: string): string
}

/** Changes of a header in transit. A mistake is reported only when the repaired header verifies. */
export const headerMistakes = [
  {
    mistake: 'header_folded',
    advice:
      'The header was folded over several lines. Send it on one line: proxies and servers handle folds differently.',
    repair: (header) => header.replace(/\r?\n[ \t]+/g, ''),
  },
  {
    mistake: 'header_quoted',
    advice: 'The header contains quotes. Remove them: neither the value nor its parts are quoted.',
    repair: (header) => header.replace(/["'`]/g, ''),
  },
  {
    mistake: 'header_with_name',
    advice: 'The value contains the name of the header. Pass only the text after the colon.',
    repair: (header) => header.replace(/^[\w-]+:[ \t]*/, ''),
  },
  {
    mistake: 'header_utf16',
    advice:
      "The header was read from a UTF-16 file, as Windows PowerShell's > writes it. Pass the header as plain text.",
    repair: (header) =>
      header.replace(/^(?:\ufeff|\ufffd\ufffd|ÿþ|þÿ)([^]*)$/, (_all, text: string) =>
        text.replaceAll('\0', '').trim(),
      ),
  },
  {
    mistake: 'header_line_break',
    advice: 'The header ends with a line break. Remove it: the value ends with the last digit of v1.',
    repair: (header) => header.replace(/[\r\n]+$/, ''),
  },
  {
    mistake: 'header_semicolon',
    advice: 'A semicolon separates the parts of the header. Write a comma: t=<unix_seconds>,v1=<hex>.',
    repair: (header) => header.replace(/\s*;\s*/g, ','),
  },
  {
    mistake: 'header_spaces',
    advice: 'The header contains spaces. Remove them: t=<unix_seconds>,v1=<hex>.',
    repair: (header) => header.replace(/\s+/g, ''),
  },
  {
    mistake: 'header_v0_only',
    advice: 'The signature is valid, but its scheme is v0. Only v1 counts: write v1=<hex>.',
    repair: (header) => (/(^|,)v1=/.test(header) ? header : header.replace(/(^|,)v0=/, '$1v1=')),
  },
  {
    mistake: 'header_in_text',
    advice:
      'The value has other text around it, as programs print it: brackets, quotes or the name of the header. Pass only t=<unix_seconds>,v1=<hex>.',
    repair: (header) => /(?<!\w)t=\d{1,15}(?:,v1=[0-9a-f]{64})+(?!\w|,\w)/.exec(header)?.[0] ?? header,
  },
] as const satisfies readonly HeaderMistakeRule[]

type HeaderMistake = (typeof headerMistakes)[number]['mistake']
