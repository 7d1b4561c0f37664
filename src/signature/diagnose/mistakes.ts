import { createHash, createHmac } from 'node:crypto'
import {
  charsets,
  isEnvelope,
  jsonForms,
  lineEndings,
  MAX_LISTED,
  missingBodies,
  newlineVariants,
  notations,
  numberVariants,
  ofNotation,
  recodings,
  slashVariants,
  sortedDataKeys,
  sortedKeys,
  textOfUtf16,
  toggleByteOrderMark,
  unicodeVariants,
  valueNotations,
  UTF16_ADVICE,
} from './body-variants.ts'

/** The signed parts: the digits of `t`, the body's bytes, one secret. */
interface SignedParts {
  t: string
  body: Buffer
  secret: string
}

/** A mistake that explains a wrong signature, and how to fix it. */
interface MistakeRule {
  mistake: string
  advice: string
  /** Returns the signatures that this mistake produces, as in the header. */
  signatures(parts: SignedParts): readonly string[]
}

/** Returns the signature of these parts in lower-case hex. */
function signatureHex(
  { secret, t, body }: { secret: string | Buffer; t: string; body: Buffer },
  hash = 'sha256',
): string {
  return createHmac(hash, secret).update(`${t}.`).update(body).digest('hex')
}

function hmac(key: string | Buffer, message: Buffer): Buffer {
  return createHmac('sha256', key).update(message).digest()
}

/** Returns the signature of the body after a text other than `t` and a period. */
function signatureAfter(start: string, { secret, body }: SignedParts): string {
  return hmac(secret, Buffer.concat([Buffer.from(start), body])).toString('hex')
}

function sha256(parts: readonly Buffer[]): string {
  return createHash('sha256').update(Buffer.concat(parts)).digest('hex')
}

const RAW_BODY = 'The payload was parsed and serialized again. Verify the raw body, before any JSON parser.'

/** Changes of a body between signer and verifier. */
const bodyMistakes = [
  {
    mistake: 'trailing_newline',
    advice:
      "The payload and the signed body differ by a newline at the end. Keep the bytes as received: `echo`, editors and the Encode of Go's json.NewEncoder add a newline.",
    signatures: ({ body, ...parts }) =>
      newlineVariants(body).map((variant) => signatureHex({ ...parts, body: variant })),
  },
  {
    mistake: 'line_endings',
    advice:
      'The payload and the signed body differ in line endings (CRLF or LF). Keep the body as bytes: text mode rewrites it.',
    signatures: ({ body, ...parts }) =>
      lineEndings(body).map((variant) => signatureHex({ ...parts, body: variant })),
  },
  {
    mistake: 'byte_order_mark',
    advice:
      'The payload and the signed body differ by a byte-order mark at the start. Save the body without it.',
    signatures: ({ body, ...parts }) => [signatureHex({ ...parts, body: toggleByteOrderMark(body) })],
  },
  {
    mistake: 'json_slashes_escaped',
    advice: `Slashes are escaped on one side only. ${RAW_BODY}`,
    signatures: (parts) => ofTexts(parts, slashVariants),
  },
  {
    mistake: 'json_unicode_escaped',
    advice: `Non-ASCII characters are escaped on one side only. ${RAW_BODY}`,
    signatures: (parts) => ofTexts(parts, unicodeVariants),
  },
  {
    mistake: 'json_numbers_rewritten',
    advice: `Numbers are written differently, such as 1 for 1.0. ${RAW_BODY}`,
    signatures: (parts) => ofTexts(parts, numberVariants),
  },
  {
    mistake: 'json_reserialised',
    advice:
      'The payload was parsed and serialized again: same JSON, other bytes. Verify the raw body, before any JSON parser (in Express: express.raw).',
    signatures: (parts) =>
      ofJson(parts, (value) => {
        const forms = jsonForms(value)
        // Files of JSON end with a line break, which most serializers do not write.
        return [...forms, ...forms.map((form) => `${form}\n`)]
      }),
  },
  {
    mistake: 'json_keys_sorted',
    advice: `The keys were sorted. ${RAW_BODY}`,
    signatures: (parts) =>
      ofJson(parts, (value) => {
        const forms = formsOfEach(sortedKeys(value), sortedDataKeys(value))
        const [compact = '', compactData = ''] = forms
        // The Encode of Go ends with a newline.
        return [...forms.slice(0, 8), `${compact}\n`, `${compactData}\n`, ...forms.slice(8)]
      }),
  },
  {
    mistake: 'data_signed',
    advice: 'Only data was signed, not the whole body. Sign the value of t, a period, and then the raw body.',
    signatures: (parts) =>
      ofJson(parts, (value) => (isEnvelope(value) ? formsOfEach(value.data, sortedKeys(value.data)) : [])),
  },
  {
    mistake: 'body_utf16',
    advice: `The payload is UTF-16. ${UTF16_ADVICE}`,
    signatures({ body, ...parts }) {
      const text = textOfUtf16(body)
      if (text === undefined) return []
      const utf8 = Buffer.from(text)
      return [utf8, ...newlineVariants(utf8)].map((variant) => signatureHex({ ...parts, body: variant }))
    },
  },
  {
    mistake: 'wrong_charset',
    advice:
      'The body was read in one charset and written in another. Bodies are UTF-8. Keep the body as bytes until it is verified.',
    signatures: ({ body, ...parts }) =>
      charsets(body).map((variant) => signatureHex({ ...parts, body: variant })),
  },
  {
    mistake: 'body_recoded',
    advice:
      'The body was encoded or decoded in transit: base64 (as gateways do), a JSON string, percent escapes, or replacement characters. Verify the bytes as received.',
    signatures: ({ body, ...parts }) =>
      recodings(body).map((variant) => signatureHex({ ...parts, body: variant })),
  },
  {
    mistake: 'body_not_signed',
    advice:
      'The signature is for an empty or missing body, such as undefined or {}. The stream was read before signing, or the raw body is not stored. Keep the bytes at the first read.',
    signatures: (parts) => missingBodies.map((text) => signatureHex({ ...parts, body: Buffer.from(text) })),
  },
  {
    mistake: 'body_formatted',
    advice:
      "The body was put into a text as a program prints it: b'…', {'id': …}, [object Object] or a list of bytes. Use the raw bytes of the body.",
    signatures(parts) {
      const { body } = parts
      const forms = [...notations(body).map((form) => Buffer.from(form)), ...ofNotation(body.toString())]
      return [
        ...forms.map((form) => signatureHex({ ...parts, body: form })),
        ...ofJson(parts, valueNotations),
      ]
    },
  },
] as const satisfies readonly MistakeRule[]

/** Returns the signatures of other forms of a body's text. */
function ofTexts({ body, ...parts }: SignedParts, forms: (text: string) => readonly string[]): string[] {
  const text = body.toString()
  // Invalid UTF-8 has no text: the decoder's changes would be mistaken for those of the form.
  if (!Buffer.from(text).equals(body)) return []
  return [...new Set(forms(text))].map((form) => signatureHex({ ...parts, body: Buffer.from(form) }))
}

/** Returns the signatures of other forms of a body's JSON. */
function ofJson(parts: SignedParts, forms: (value: unknown) => readonly string[]): string[] {
  return ofTexts(parts, (text) => fromJson(text, forms))
}

/** Returns what is made of the value of JSON; nothing for other text, or for JSON that is nested too deeply. */
function fromJson(text: string, make: (value: unknown) => readonly string[]): readonly string[] {
  try {
    return make(JSON.parse(text))
  } catch {
    return []
  }
}

/** Returns the likely forms of both values before the further ones of either. */
function formsOfEach(one: unknown, other: unknown): string[] {
  const others = jsonForms(other)
  return jsonForms(one).flatMap((form, at) => [form, others[at] ?? form])
}

/** Mistakes in how a program reads the secret. */
const secretMistakes = [
  {
    mistake: 'secret_without_prefix',
    advice: 'The key is the whole secret, including whsec_, as the registration returned it.',
    signatures: (parts) => prefixVariants(parts.secret).map((secret) => signatureHex({ ...parts, secret })),
  },
  {
    mistake: 'secret_decoded',
    advice: 'The key is the secret as text, including whsec_, not its decoded base64.',
    signatures: (parts) => decodings(parts.secret).map((secret) => signatureHex({ ...parts, secret })),
  },
  {
    mistake: 'secret_padded',
    advice:
      'The secret has whitespace or quotes around it, which change the key. Trim the secret after reading it from a file or an environment variable.',
    signatures: (parts) => paddingVariants(parts.secret).map((secret) => signatureHex({ ...parts, secret })),
  },
  {
    mistake: 'secret_empty',
    advice:
      'The key is empty: the secret is not set, or it is decoded, which fails. The key is the secret as text, including whsec_.',
    signatures: (parts) => [signatureHex({ ...parts, secret: '' })],
  },
] as const satisfies readonly MistakeRule[]

/** Mistakes in the encoding of the digest and the choice of its hash. */
const digestMistakes = [
  {
    mistake: 'hex_upper_case',
    advice: 'The digest is correct but in upper case. Write v1 in lower-case hex.',
    signatures: (parts) => [signatureHex(parts).toUpperCase()],
  },
  {
    mistake: 'hex_zeros_dropped',
    advice:
      'Leading zeros are missing from the digest or its bytes. Write two lower-case hex digits for each byte.',
    signatures: (parts) => withoutZeros(signatureHex(parts)),
  },
  {
    mistake: 'hex_sign_extended',
    advice:
      'Bytes from 0x80 on are written as negative numbers, such as ffffffab for ab. Write two lower-case hex digits for each byte (in Java: HexFormat).',
    signatures: (parts) => signExtended(signatureHex(parts)),
  },
  {
    mistake: 'hex_with_dashes',
    advice:
      'The digest is correct but has dashes between its bytes, as BitConverter.ToString of C# writes them. Write v1 in lower-case hex.',
    signatures: (parts) => {
      const dashed = signatureHex(parts).replace(/..(?!$)/g, '$&-')
      return [dashed.toUpperCase(), dashed]
    },
  },
  {
    mistake: 'base64_instead_of_hex',
    advice: 'The digest is correct but in base64. Write v1 in lower-case hex.',
    signatures: (parts) => base64Variants(signatureHex(parts)),
  },
  {
    mistake: 'arguments_swapped',
    advice:
      'The key and the message of the HMAC are swapped. The key is the secret. The message is the value of t, a period, and the body.',
    signatures: ({ secret, t, body }) => [
      hmac(Buffer.concat([Buffer.from(`${t}.`), body]), Buffer.from(secret)).toString('hex'),
    ],
  },
  {
    mistake: 'message_appended',
    advice:
      'The message was passed to Sum of Go, which puts it before the digest of an empty message. Pass the message to Write, and nil to Sum.',
    signatures: ({ secret, t, body }) =>
      body.length > MAX_LISTED
        ? []
        : [
            `${Buffer.from(`${t}.`).toString('hex')}${body.toString('hex')}${hmac(secret, Buffer.alloc(0)).toString('hex')}`,
          ],
  },
  {
    mistake: 'sha1_instead_of_sha256',
    advice: 'The signature was made with SHA-1. Use HMAC-SHA256.',
    signatures: (parts) => [signatureHex(parts, 'sha1')],
  },
  {
    mistake: 'sha512_instead_of_sha256',
    advice: 'The signature was made with SHA-512. Use HMAC-SHA256.',
    signatures: (parts) => [signatureHex(parts, 'sha512')],
  },
  {
    mistake: 'hash_instead_of_hmac',
    advice: 'The signature is a plain SHA-256 hash, not an HMAC. Use HMAC-SHA256 with the secret as its key.',
    signatures: ({ secret, t, body }) => {
      const signed = Buffer.concat([Buffer.from(`${t}.`), body])
      const key = Buffer.from(secret)
      return [[signed], [key, signed], [signed, key], [body, key], [key, body], [body]].map(sha256)
    },
  },
] as const satisfies readonly MistakeRule[]

/** Mistakes in `t` and in how it is joined to the body. */
const timestampMistakes = [
  {
    mistake: 'timestamp_in_milliseconds',
    advice:
      't must be Unix time in seconds, in the header and in the signed text. Divide by 1000 and round down.',
    signatures: ({ t, ...parts }) =>
      millisecondVariants(t).map((variant) => signatureHex({ ...parts, t: variant })),
  },
  {
    mistake: 'timestamp_not_signed',
    advice: 'Only the body was signed. Sign the value of t, a period, and then the body.',
    signatures: (parts) => [signatureAfter('', parts)],
  },
  {
    mistake: 'period_not_signed',
    advice: 'The period is missing between t and the body. Sign the value of t, a period, and then the body.',
    signatures: (parts) => [signatureAfter(parts.t, parts)],
  },
  {
    mistake: 'other_separator_signed',
    advice:
      'A colon or a newline was signed between t and the body. Sign the value of t, a period, and then the body.',
    signatures: (parts) => [':', '\n'].map((separator) => signatureAfter(`${parts.t}${separator}`, parts)),
  },
  {
    mistake: 'timestamp_name_signed',
    advice: 'The signed text begins with t=. Sign only the value of t, a period, and then the body.',
    signatures: (parts) => [signatureAfter(`t=${parts.t}.`, parts)],
  },
  {
    mistake: 'timestamp_as_float',
    advice:
      'The signed t has a fraction, such as 123.0 for 123. Sign the digits of t as they are in the header.',
    signatures: (parts) => [signatureAfter(`${parts.t}.0.`, parts)],
  },
  {
    mistake: 'event_id_signed',
    advice:
      'The id of the event was signed before t, as in Standard Webhooks. Sign the value of t, a period, and then the body.',
    signatures: (parts) =>
      fromJson(parts.body.toString(), (value) =>
        isEnvelope(value) && typeof value.id === 'string'
          ? [signatureAfter(`${value.id}.${parts.t}.`, parts)]
          : [],
      ),
  },
  {
    mistake: 'timestamp_after_body',
    advice: 'The body was signed before t. Sign the value of t, a period, and then the body.',
    signatures: ({ secret, t, body }) =>
      [`.${t}`, t].map((end) => hmac(secret, Buffer.concat([body, Buffer.from(end)])).toString('hex')),
  },
  {
    mistake: 'other_timestamp_signed',
    advice:
      'The signed time differs from t. Read the clock once, and use the same digits in the header and in the signed text.',
    signatures: ({ t, ...parts }) =>
      nearby(t, parts.body.length).map((other) => signatureHex({ ...parts, t: other })),
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

export type SignatureMistake = (typeof mistakes)[number]['mistake']

const prefix = 'whsec_'

/** Removes the prefix, or adds it when the secret has none. */
function prefixVariants(secret: string): string[] {
  return [secret.startsWith(prefix) ? secret.slice(prefix.length) : `${prefix}${secret}`]
}

/**
 * Keys that decoders of base64 make of the secret, with and without its prefix. Some read `-` and `_`, some skip them; with
 * an ignored error, Go's keep the groups of four before them, or before a last group that lacks padding.
 */
function decodings(secret: string): Buffer[] {
  const texts = new Set([secret.startsWith(prefix) ? secret.slice(prefix.length) : secret, secret])
  return [...texts]
    .flatMap((text) => [
      text,
      text.replace(/[-_]/g, ''),
      text.replace(/^((?:[A-Za-z\d+/]{4})*)[^]*$/, '$1'),
      text.replace(/^((?:[\w-]{4})*)[^]*$/, '$1'),
    ])
    .map((text) => Buffer.from(text, 'base64'))
    .filter(({ length }) => length > 0)
}

/** The digest without its leading zeros, and without the zero of each byte below 0x10; in lower case and in upper case. */
function withoutZeros(hex: string): string[] {
  const short = [hex.replace(/^0+/, ''), hex.replace(/0(.)|(..)/g, '$1$2')]
  return [...short, ...short.map((one) => one.toUpperCase())].filter(({ length }) => length < hex.length)
}

/** The digest with each byte as a signed 32-bit number; small bytes without and with their zero. */
function signExtended(hex: string): string[] {
  const long = hex.replace(/../g, (byte) => (byte < '80' ? byte : `ffffff${byte}`))
  const short = hex.replace(/../g, (byte) => (byte < '80' ? byte.replace(/^0/, '') : `ffffff${byte}`))
  return [short, long].filter(({ length }) => length > hex.length)
}

/** The digest in base64: padded or not, of the bytes or of the hex text, in lines of 60 (Ruby) or 76 characters. */
function base64Variants(hex: string): string[] {
  const bytes = Buffer.from(hex, 'hex')
  const [plain, ofText] = [bytes, Buffer.from(hex)].map((one) => one.toString('base64')) as [string, string]
  const unpadded = [plain, ofText].map((text) => text.replace(/=+$/, ''))
  const lines = [plain, ofText].flatMap((text) =>
    [/.{1,60}/g, /.{1,76}/g].map((line) => text.replace(line, '$&\n')),
  )
  const likely = [plain, unpadded[0] ?? '', ofText, bytes.toString('base64url'), ...unpadded.slice(1)]
  return [...likely, ...lines, ...lines.map((text) => text.trimEnd())]
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

/** True for 12 to 14 digits: in seconds these are after the year 5000, in milliseconds after 1973. */
export function isMilliseconds(t: string): boolean {
  return t.length >= 12 && t.length <= 14
}
