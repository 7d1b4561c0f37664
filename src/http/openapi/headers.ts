import { refTo, type Json } from './json.ts'

/** Response headers by name, which is also the component name. */
export const headers = {
  'X-Request-Id': {
    description:
      'Identifies the request, for example for support. Present on every response (specification section 1).',
    required: true,
    schema: { type: 'string', pattern: '^req_[0-9A-Z]{26}$' },
  },
  'WWW-Authenticate': {
    description: 'The authentication scheme: a bearer token.',
    required: true,
    schema: { type: 'string', const: 'Bearer' },
  },
  'Retry-After': {
    description: 'Seconds to wait before a retry.',
    schema: { type: 'integer', minimum: 1 },
  },
  'Cache-Control': {
    description: 'Caches must not store the response.',
    required: true,
    schema: { type: 'string', const: 'no-store' },
  },
  'Cross-Origin-Resource-Policy': {
    description: 'Pages of other origins must not read the response.',
    required: true,
    schema: { type: 'string', const: 'same-origin' },
  },
  'Cross-Origin-Opener-Policy': {
    description:
      'Pages of other origins that open this one in a window cannot control that window. Browsers ignore it on plain HTTP except on localhost.',
    required: true,
    schema: { type: 'string', const: 'same-origin' },
  },
  'Set-Cookie': {
    description: 'Sets or clears the session cookie. It is sent only to `/_sim` and not readable by scripts.',
    required: true,
    schema: { type: 'string' },
  },
  'Content-Security-Policy': {
    description: 'The page loads resources only from the service and cannot be framed.',
    required: true,
    schema: { type: 'string' },
  },
  'Referrer-Policy': {
    description: 'Links send no referrer, because the address gives access to the table.',
    required: true,
    schema: { type: 'string', const: 'no-referrer' },
  },
} satisfies Record<string, Json>

export type HeaderName = keyof typeof headers

/** Returns the headers of a response: `X-Request-Id` and these. */
export function headersOf(names: readonly HeaderName[] = []): Json {
  return Object.fromEntries(['X-Request-Id', ...names].map((name) => [name, refTo('headers', name)]))
}
