import { UTF16_ADVICE } from './utf16.ts'

/** Mistakes that no signature proves: they follow from what was given. */
export const circumstances = {
  header_other_name:
    'The signature is right, but under another name. The header is X-<Service>-Signature: correct its name, or pass --service-name.',
  secret_of_another_endpoint:
    'The signature is that of another endpoint: this secret does not belong to it. Each endpoint has its own secret; verify with the one of the endpoint that the delivery went to.',
  api_key_as_secret:
    'An API key is no signing secret. Use the whsec_… text that the registration of the endpoint returned.',
  body_utf16: `The payload is UTF-16. ${UTF16_ADVICE}`,
  body_empty:
    'The body is empty. It was probably read before, by a body parser or a logger: keep its bytes when it is read first.',
} as const

/** Seconds that the clock and `t` differ by, in words that help to find out why. */
export function clockAdvice(ahead: number): string {
  const off = Math.abs(ahead)
  const side = ahead > 0 ? 'ahead of' : 'behind'
  const zone = off % 900 < 300 || off % 900 > 600 ? timeZone(off) : ''
  return `The signature is right, but t is ${off} s ${side} the clock. Either the delivery was not verified when it came, or one of the two clocks is off by that much: set it by NTP.${zone}`
}

/** A quarter of an hour is the step of time zones; what is near a multiple of it is probably one, not a lazy clock. */
function timeZone(seconds: number): string {
  const quarters = Math.round(seconds / 900)
  if (quarters === 0 || quarters > 56) return ''
  return ` It is about ${quarters / 4} h: was local time taken for UTC?`
}
