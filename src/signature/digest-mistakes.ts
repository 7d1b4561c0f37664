import { hexDigest } from './digest.ts'
import { hex, type Slip } from './slip.ts'

/** How the digest is written, and by which hash it is made. */
export const digestMistakes = [
  {
    mistake: 'hex_upper_case',
    advice: 'The digest is right but in upper case. Write v1 in lower-case hex.',
    signatures: (given) => [hex(given).toUpperCase()],
  },
  {
    mistake: 'base64_instead_of_hex',
    advice: 'The digest is right but in base64. Write v1 in lower-case hex.',
    signatures: ({ secret, t, body }) => {
      const bytes = Buffer.from(hexDigest(secret, t, body), 'hex')
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
] as const satisfies readonly Slip[]
