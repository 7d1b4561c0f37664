import { hex, hmac, type Slip } from './slip.ts'
import { millisecondVariants } from './variants.ts'

/** What goes wrong with `t`, and with how it is put before the body. */
export const timestampMistakes = [
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
    mistake: 'other_timestamp_signed',
    advice:
      'Another time was signed than t says. Read the clock once, and use the same digits in the header and in what is signed.',
    signatures: ({ t, ...given }) => nearby(t, given.body.length).map((other) => hex({ ...given, t: other })),
  },
] as const satisfies readonly Slip[]

/** Times within ten minutes of `t`, nearest first; of large bodies fewer, as each costs a hash of the whole body. */
function nearby(t: string, length: number): string[] {
  const reach = length > 65_536 ? 10 : 600
  const steps = Array.from({ length: reach }, (_, at) => at + 1)
  return steps.flatMap((step) => [Number(t) - step, Number(t) + step]).map(String)
}
