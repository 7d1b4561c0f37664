import {
  charsets,
  numberVariants,
  recodings,
  slashVariants,
  sortedKeys,
  unicodeVariants,
  compact,
  indented,
  spaced,
  lineEndings,
  newlineVariants,
  toggleByteOrderMark,
} from './body-variants.ts'
import { signatureHex, type SignedParts, type MistakeRule } from './mistake-rule.ts'
import { textOfUtf16, UTF16_ADVICE } from './utf16.ts'

const RAW_BODY = 'The payload was parsed and serialized again. Verify the raw body, before any JSON parser.'

/** Changes of a body between signer and verifier. */
export const bodyMistakes = [
  {
    mistake: 'trailing_newline',
    advice:
      'The payload and the signed body differ by a newline at the end. Save and pass the body exactly as received: `echo` and editors add a newline.',
    signatures: ({ body, ...given }) =>
      newlineVariants(body).map((variant) => signatureHex({ ...given, body: variant })),
  },
  {
    mistake: 'line_endings',
    advice:
      'The payload and the signed body differ in line endings (CRLF or LF). Keep the body as bytes: text mode rewrites it.',
    signatures: ({ body, ...given }) =>
      lineEndings(body).map((variant) => signatureHex({ ...given, body: variant })),
  },
  {
    mistake: 'byte_order_mark',
    advice:
      'The payload and the signed body differ by a byte-order mark at the start. Save the body without it.',
    signatures: ({ body, ...given }) => [signatureHex({ ...given, body: toggleByteOrderMark(body) })],
  },
  {
    mistake: 'json_slashes_escaped',
    advice: `Slashes are escaped on one side only. ${RAW_BODY}`,
    signatures: (given) => ofTexts(given, slashVariants),
  },
  {
    mistake: 'json_unicode_escaped',
    advice: `Non-ASCII characters are escaped on one side only. ${RAW_BODY}`,
    signatures: (given) => ofTexts(given, unicodeVariants),
  },
  {
    mistake: 'json_numbers_rewritten',
    advice: `Numbers are written differently, such as 1 for 1.0. ${RAW_BODY}`,
    signatures: (given) => ofTexts(given, numberVariants),
  },
  {
    mistake: 'json_reserialised',
    advice:
      'The payload was parsed and serialized again: same JSON, other bytes. Verify the raw body, before any JSON parser (in Express: express.raw).',
    signatures: (given) =>
      ofTexts(given, (text) =>
        [compact, indented(2), indented(4), spaced]
          .flatMap((form) => form(text))
          // Files of JSON end with a line break, which serializers do not write.
          .flatMap((form) => [form, `${form}\n`]),
      ),
  },
  {
    mistake: 'json_keys_sorted',
    advice: `The keys were sorted. ${RAW_BODY}`,
    signatures: (given) =>
      ofTexts(given, (text) =>
        sorted(text).flatMap((one) =>
          [compact, indented(2), indented(4), spaced].flatMap((form) => form(one)),
        ),
      ),
  },
  {
    mistake: 'body_utf16',
    advice: `The payload is UTF-16. ${UTF16_ADVICE}`,
    signatures({ body, ...given }) {
      const text = textOfUtf16(body)
      if (text === undefined) return []
      const utf8 = Buffer.from(text)
      return [utf8, ...newlineVariants(utf8)].map((variant) => signatureHex({ ...given, body: variant }))
    },
  },
  {
    mistake: 'wrong_charset',
    advice:
      'The body was read in one charset and written in another. Bodies are UTF-8. Keep the body as bytes until it is verified.',
    signatures: ({ body, ...given }) =>
      charsets(body).map((variant) => signatureHex({ ...given, body: variant })),
  },
  {
    mistake: 'body_recoded',
    advice:
      'The body was encoded or decoded in transit: base64 (as gateways do), a JSON string, percent escapes, or replacement characters. Verify the bytes as received.',
    signatures: ({ body, ...given }) =>
      recodings(body).map((variant) => signatureHex({ ...given, body: variant })),
  },
  {
    mistake: 'body_not_signed',
    advice:
      'The signature is for an empty body: the stream was read before signing. Keep the bytes at the first read.',
    signatures: (given) => [signatureHex({ ...given, body: Buffer.alloc(0) })],
  },
] as const satisfies readonly MistakeRule[]

/** Returns the signatures of other forms of a body's text. */
function ofTexts({ body, ...given }: SignedParts, forms: (text: string) => readonly string[]): string[] {
  const text = body.toString()
  // Invalid UTF-8 has no text: the decoder's changes would be mistaken for those of the form.
  if (!Buffer.from(text).equals(body)) return []
  return forms(text).map((form) => signatureHex({ ...given, body: Buffer.from(form) }))
}

function sorted(text: string): string[] {
  try {
    return [JSON.stringify(sortedKeys(JSON.parse(text)))]
  } catch {
    return []
  }
}
