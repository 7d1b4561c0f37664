import { createHmac } from 'node:crypto'
import { charsets, numberForms, recodings, slashForms, sortedKeys, unicodeForms } from './body-forms.ts'
import { digest } from './digest.ts'
import { compact, indented, spaced } from './json-forms.ts'
import {
  lineEndings,
  millisecondVariants,
  newlineVariants,
  paddingVariants,
  prefixVariants,
  toggleMark,
} from './variants.ts'

/** What was verified: the digits of `t`, the body's bytes, one secret. */
interface Given {
  t: string
  body: Buffer
  secret: string
}

interface Row {
  mistake: string
  advice: string
  /** The signatures that this slip would have made, as they would stand in the header. */
  signatures(given: Given): readonly string[]
}

const RAW_BODY = 'The payload was parsed and written out again: verify the raw body, before any JSON parser.'

/**
 * The slips that people make, likeliest first. A slip is found only when it explains the signature to the last bit, so
 * a row more can never blame wrongly; it costs one HMAC.
 */
export const mistakes = [
  {
    mistake: 'trailing_newline',
    advice:
      'The payload and what was signed differ by a newline at the end. Save and pass the body exactly as received; `echo` and editors add a newline.',
    signatures: ({ body, ...given }) =>
      newlineVariants(body).map((variant) => hex({ ...given, body: variant })),
  },
  {
    mistake: 'line_endings',
    advice:
      'The payload and what was signed differ in line endings (CRLF or LF). Keep the body as bytes; text mode rewrites it.',
    signatures: ({ body, ...given }) => lineEndings(body).map((variant) => hex({ ...given, body: variant })),
  },
  {
    mistake: 'byte_order_mark',
    advice:
      'The payload and what was signed differ by a byte-order mark at the start. Save the body without one.',
    signatures: ({ body, ...given }) => [hex({ ...given, body: toggleMark(body) })],
  },
  {
    mistake: 'json_slashes_escaped',
    advice: `Slashes are escaped on one side alone. ${RAW_BODY}`,
    signatures: (given) => ofTexts(given, slashForms),
  },
  {
    mistake: 'json_unicode_escaped',
    advice: `Characters beyond ASCII are escaped on one side alone. ${RAW_BODY}`,
    signatures: (given) => ofTexts(given, unicodeForms),
  },
  {
    mistake: 'json_numbers_rewritten',
    advice: `Numbers are written otherwise, such as 1 for 1.0. ${RAW_BODY}`,
    signatures: (given) => ofTexts(given, numberForms),
  },
  {
    mistake: 'json_reserialised',
    advice:
      'The payload was parsed and written out again: same JSON, other bytes. Verify the raw body, before any JSON parser (in Express: express.raw).',
    signatures: (given) =>
      ofTexts(given, (text) => [compact, indented(2), indented(4), spaced].flatMap((form) => form(text))),
  },
  {
    mistake: 'json_keys_sorted',
    advice: `The keys were brought into the order of the alphabet. ${RAW_BODY}`,
    signatures: (given) =>
      ofTexts(given, (text) =>
        sorted(text).flatMap((one) =>
          [compact, indented(2), indented(4), spaced].flatMap((form) => form(one)),
        ),
      ),
  },
  {
    mistake: 'wrong_charset',
    advice:
      'The body was read in one charset and written in another. It is UTF-8; better, keep it as bytes until it is verified.',
    signatures: ({ body, ...given }) => charsets(body).map((variant) => hex({ ...given, body: variant })),
  },
  {
    mistake: 'body_recoded',
    advice:
      'The body was decoded and encoded again, or once too seldom: base64 (as gateways do), a JSON string, percent escapes, or replacement characters. Verify the bytes that came.',
    signatures: ({ body, ...given }) => recodings(body).map((variant) => hex({ ...given, body: variant })),
  },
  {
    mistake: 'body_not_signed',
    advice:
      'The signature is that of an empty body: the stream was consumed before it was signed. Keep the bytes when they are first read.',
    signatures: (given) => [hex({ ...given, body: Buffer.alloc(0) })],
  },
  {
    mistake: 'secret_without_prefix',
    advice: 'The key is the whole secret, with whsec_ in front of it, as the registration returned it.',
    signatures: (given) => prefixVariants(given.secret).map((secret) => hex({ ...given, secret })),
  },
  {
    mistake: 'secret_decoded',
    advice: 'The key is the secret as text, whsec_ and all, not the bytes that its base64 stands for.',
    signatures: (given) => [
      hex({ ...given, secret: Buffer.from(given.secret.replace(/^whsec_/, ''), 'base64') }),
    ],
  },
  {
    mistake: 'secret_padded',
    advice:
      'The secret has whitespace or quotes around it, which count. Trim it where it is read from a file or an environment variable.',
    signatures: (given) => paddingVariants(given.secret).map((secret) => hex({ ...given, secret })),
  },
  {
    mistake: 'timestamp_in_milliseconds',
    advice:
      't must be Unix time in seconds, in the header and in what is signed: divide by 1000 and round down.',
    signatures: ({ t, ...given }) => millisecondVariants(t).map((variant) => hex({ ...given, t: variant })),
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
    mistake: 'hex_upper_case',
    advice: 'The digest is right but in upper case. Write v1 in lower-case hex.',
    signatures: (given) => [hex(given).toUpperCase()],
  },
  {
    mistake: 'base64_instead_of_hex',
    advice: 'The digest is right but in base64. Write v1 in lower-case hex.',
    signatures: ({ secret, t, body }) => {
      const bytes = digest(secret, t, body)
      return [bytes.toString('base64'), bytes.toString('base64url')]
    },
  },
  {
    mistake: 'sha1_instead_of_sha256',
    advice: 'The signature was made with SHA-1. Use HMAC-SHA256.',
    signatures: (given) => [hex(given, 'sha1')],
  },
  {
    mistake: 'sha512_instead_of_sha256',
    advice: 'The signature was made with SHA-512. Use HMAC-SHA256.',
    signatures: (given) => [hex(given, 'sha512')],
  },
  {
    mistake: 'other_timestamp_signed',
    advice:
      'Another time was signed than t says. Read the clock once, and use the same digits in the header and in what is signed.',
    signatures: ({ t, ...given }) => nearby(t, given.body.length).map((other) => hex({ ...given, t: other })),
  },
] as const satisfies readonly Row[]

export type Mistake = (typeof mistakes)[number]['mistake']

function hex(
  { secret, t, body }: { secret: string | Buffer; t: string; body: Buffer },
  hash = 'sha256',
): string {
  return createHmac(hash, secret).update(`${t}.`).update(body).digest('hex')
}

function hmac(key: string | Buffer, message: Buffer): Buffer {
  return createHmac('sha256', key).update(message).digest()
}

/** The signatures of a body's text in other forms. */
function ofTexts({ body, ...given }: Given, forms: (text: string) => readonly string[]): string[] {
  const text = body.toString()
  // What is no UTF-8 has no text: what a decoder made of it would be blamed on the form.
  if (!Buffer.from(text).equals(body)) return []
  return forms(text).map((form) => hex({ ...given, body: Buffer.from(form) }))
}

function sorted(text: string): string[] {
  try {
    return [JSON.stringify(sortedKeys(JSON.parse(text)))]
  } catch {
    return []
  }
}

/** Times within ten minutes of `t`, nearest first; of large bodies fewer, as each costs a hash of the whole body. */
function nearby(t: string, length: number): string[] {
  const reach = length > 65_536 ? 10 : 600
  const steps = Array.from({ length: reach }, (_, at) => at + 1)
  return steps.flatMap((step) => [Number(t) - step, Number(t) + step]).map(String)
}
