import { bodyMistakes } from './body-mistakes.ts'
import { signatureHex, type MistakeRule, hmac } from './mistake-rule.ts'
import { hexDigest } from '../sign.ts'

/** Mistakes in how a program reads the secret. */
const secretMistakes = [
  {
    mistake: 'secret_without_prefix',
    advice: 'The key is the whole secret, including whsec_, as the registration returned it.',
    signatures: (given) => prefixVariants(given.secret).map((secret) => signatureHex({ ...given, secret })),
  },
  {
    mistake: 'secret_decoded',
    advice: 'The key is the secret as text, including whsec_, not its decoded base64.',
    signatures: (given) => [
      signatureHex({ ...given, secret: Buffer.from(given.secret.replace(/^whsec_/, ''), 'base64') }),
    ],
  },
  {
    mistake: 'secret_padded',
    advice:
      'The secret has whitespace or quotes around it, which change the key. Trim the secret after reading it from a file or an environment variable.',
    signatures: (given) => paddingVariants(given.secret).map((secret) => signatureHex({ ...given, secret })),
  },
] as const satisfies readonly MistakeRule[]

/** Mistakes in the encoding of the digest and the choice of its hash. */
const digestMistakes = [
  {
    mistake: 'hex_upper_case',
    advice: 'The digest is correct but in upper case. Write v1 in lower-case hex.',
    signatures: (given) => [signatureHex(given).toUpperCase()],
  },
  {
    mistake: 'base64_instead_of_hex',
    advice: 'The digest is correct but in base64. Write v1 in lower-case hex.',
    signatures: ({ secret, t, body }) => {
      const bytes = Buffer.from(hexDigest(secret, t, body), 'hex')
      return [bytes.toString('base64'), bytes.toString('base64url')]
    },
  },
  {
    mistake: 'sha1_instead_of_sha256',
    advice: 'The signature was made with SHA-1. Use HMAC-SHA256.',
    signatures: (given) => [signatureHex(given, 'sha1')],
  },
  {
    mistake: 'sha512_instead_of_sha256',
    advice: 'The signature was made with SHA-512. Use HMAC-SHA256.',
    signatures: (given) => [signatureHex(given, 'sha512')],
  },
] as const satisfies readonly MistakeRule[]

/** Mistakes in `t` and in how it is joined to the body. */
const timestampMistakes = [
  {
    mistake: 'timestamp_in_milliseconds',
    advice:
      't must be Unix time in seconds, in the header and in the signed text. Divide by 1000 and round down.',
    signatures: ({ t, ...given }) =>
      millisecondVariants(t).map((variant) => signatureHex({ ...given, t: variant })),
  },
  {
    mistake: 'timestamp_not_signed',
    advice: 'Only the body was signed. Sign the value of t, a period, and then the body.',
    signatures: ({ secret, body }) => [hmac(secret, body).toString('hex')],
  },
  {
    mistake: 'period_not_signed',
    advice: 'The period is missing between t and the body. Sign the value of t, a period, and then the body.',
    signatures: ({ secret, t, body }) => [
      hmac(secret, Buffer.concat([Buffer.from(t), body])).toString('hex'),
    ],
  },
  {
    mistake: 'other_timestamp_signed',
    advice:
      'The signed time differs from t. Read the clock once, and use the same digits in the header and in the signed text.',
    signatures: ({ t, ...given }) =>
      nearby(t, given.body.length).map((other) => signatureHex({ ...given, t: other })),
  },
] as const satisfies readonly MistakeRule[]

/**
 * Times within ten minutes of `t`, nearest first; within ten seconds for bodies over 64 KiB, since each time costs a hash
 * of the whole body.
 */
function nearby(t: string, length: number): string[] {
  const reach = length > 65_536 ? 10 : 600
  const steps = Array.from({ length: reach }, (_, at) => at + 1)
  return steps.flatMap((step) => [Number(t) - step, Number(t) + step]).map(String)
}

/**
 * All mistakes that a signature can prove, in the order in which they are tried: narrow rules before wider ones that also
 * match, expensive ones last. A rule matches only when it reproduces the signature exactly, so a further rule causes no
 * false diagnosis; it costs one HMAC or a few.
 */
export const mistakes = [...bodyMistakes, ...secretMistakes, ...digestMistakes, ...timestampMistakes]

export type Mistake = (typeof mistakes)[number]['mistake']

const prefix = 'whsec_'

/** Removes the prefix, or adds it when the secret has none. */
function prefixVariants(secret: string): string[] {
  return [secret.startsWith(prefix) ? secret.slice(prefix.length) : `${prefix}${secret}`]
}

/** The secret without padding, and with each padding that a signer may have kept. */
function paddingVariants(secret: string): string[] {
  const bare = secret.replace(/^[\s"'`]+|[\s"'`]+$/g, '')
  return [bare, `${bare}\n`, `${bare}\r\n`, `${bare} `, ` ${bare}`, `"${bare}"`, `'${bare}'`]
}

/** Converts `t` from milliseconds to seconds, or from seconds to whole milliseconds. */
function millisecondVariants(t: string): string[] {
  return isMilliseconds(t) ? [t.slice(0, -3)] : [`${t}000`]
}

/** True from twelve digits on: in seconds these are after the year 5000, in milliseconds 1973. */
export function isMilliseconds(t: string): boolean {
  return t.length >= 12
}
