import { refTo, type Json } from './json.ts'

/** Headers of answers, by their names, which are those of their components. */
export const headers = {
  'X-Request-Id': {
    description: 'Identifies the request for support; on every response (specification section 1).',
    required: true,
    schema: { type: 'string', pattern: '^req_[0-9A-Z]{26}$' },
  },
  'WWW-Authenticate': {
    description: 'How to authenticate: with a bearer token.',
    required: true,
    schema: { type: 'string', const: 'Bearer' },
  },
  'Retry-After': {
    description: 'Seconds after which it is worth another try.',
    schema: { type: 'integer', minimum: 1 },
  },
  'Cache-Control': {
    description: 'Caches must not store the response.',
    required: true,
    schema: { type: 'string', const: 'no-store' },
  },
  'Cross-Origin-Resource-Policy': {
    description: 'No page of elsewhere may have it.',
    required: true,
    schema: { type: 'string', const: 'same-origin' },
  },
  'Set-Cookie': {
    description: 'The session, or the end of it; it goes to `/_sim` alone, and no script sees it.',
    required: true,
    schema: { type: 'string' },
  },
  'Content-Security-Policy': {
    description: 'The page loads from the service alone and cannot be framed.',
    required: true,
    schema: { type: 'string' },
  },
  'Referrer-Policy': {
    description: 'No link tells where it was followed: the address is the access.',
    required: true,
    schema: { type: 'string', const: 'no-referrer' },
  },
} satisfies Record<string, Json>

export type HeaderName = keyof typeof headers

/** What an answer says of its headers: the one that all have, and these. */
export function headersOf(names: readonly HeaderName[] = []): Json {
  return Object.fromEntries(['X-Request-Id', ...names].map((name) => [name, refTo('headers', name)]))
}
