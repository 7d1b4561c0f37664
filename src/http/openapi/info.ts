import type { Json } from './json.ts'

const about = `A restaurant table-payment service: a point-of-sale system (POS) pushes the complete current state of its checks,
guests claim items and pay at the table, and signed, retried webhooks tell of it.

- Money is an integer in minor units, times are ISO 8601 in UTC.
- Requests have JSON bodies in UTF-8, with \`Content-Type: application/json\`.
- Every response has the header \`X-Request-Id\`, whatever its status.
- Lists are newest first: pass \`next_cursor\` as \`cursor\` until it is null.
- \`HEAD\` works wherever \`GET\` does; other methods on a known path are answered 405 with \`Allow\`, unknown paths 404.
- A key belongs to one location, and so do the checks that it pushes and the webhook endpoints that it registers.
- A call without a valid key gets 401 before anything else is checked.
- What is no request of HTTP/1.1 or HTTP/1.0 is answered 400, 408, 431 or 505, in the shape of errors.
- Errors have one shape: a \`code\` for programs, a \`message\` for people, the \`request_id\`, and details of the code.`

const simulated = `

Everything under \`/_sim\` and \`/t\` is the simulator's own: no real service has it, and its operations are marked with
\`x-simulator-only\`. Under \`/_sim\` is what moves and shows the service, under \`/t\` what a guest's phone calls: without an API
key, by a token in the path, so that nothing there is answered 401 or 429.

Not in this document are the pages for people at \`/\` and \`/docs\`, their files under \`/assets\`, and the document itself at
\`/openapi.json\`.`

/** What the document says of itself. The version is that of the API, a segment of its paths (specification section 9). */
export function info(simulator: boolean): Json {
  return {
    title: 'Check ingestion and webhooks',
    version: '1',
    summary: 'Push checks, receive signed webhooks.',
    description: about + (simulator ? simulated : ''),
    license: { name: 'MIT', identifier: 'MIT' },
  }
}
