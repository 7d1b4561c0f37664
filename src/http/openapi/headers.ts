import type { Json } from './json.ts'

/** Headers of answers, by their names, which are those of their components. */
export const headers: Record<string, Json> = {
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
  Allow: {
    description: 'The methods that the path has, separated by commas.',
    required: true,
    schema: { type: 'string' },
    example: 'GET, HEAD',
  },
  'Retry-After': {
    description: 'Seconds after which it is worth another try.',
    schema: { type: 'integer', minimum: 1 },
  },
}
