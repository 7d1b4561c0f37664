import { hex, type Slip } from './slip.ts'
import { paddingVariants, prefixVariants } from './variants.ts'

/** What happens to a secret on its way into a program. */
export const secretMistakes = [
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
] as const satisfies readonly Slip[]
