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

/** The groups of operations. Those of the simulator begin with its name; no real service has them. */
const tags = {
  Locations: "The restaurant's locations (specification section 4).",
  Checks:
    'Pushing the complete current state of a check, and looking at it (specification sections 2 and 4).',
  Claims: 'What guests have taken on.',
  Payments: 'What guests have paid.',
  Feedback: 'What guests thought of it.',
  'Webhook endpoints':
    'Receivers of events, and pings (specification sections 4 to 6). A delivery that is not answered with a 2xx within 10 seconds is tried again after 1 minute, 5 minutes, 30 minutes, 2 hours, 8 hours and 24 hours, then it is dead; informational answers (1xx) are skipped. A reused connection that is closed before any byte of an answer is no failure: the same attempt goes out once more on a new one.',
  'Simulator guests': 'Plays the guests at the table: claim, pay, rate.',
  'Simulator guest page':
    "What a guest's phone calls when it has scanned the QR code of a table. There is no API key: the token in the path, which cannot be guessed, gives access, a wrong one is answered 404, and `X-Guest-Id` tells the guests at the table apart. It does what the operations of Simulator guests do with a key, and `tabwire guests` on the command line; but each guest for themselves, at this one table, and without refunds.",
  'Simulator deliveries': 'What was sent, what came of it, and sending it again.',
  'Simulator events': 'Everything that happened, and the exact bytes that tell of it.',
  'Simulator requests': 'What the service was asked, and what is wrong with it.',
  'Simulator clock': 'The clock of the service, and fault injection.',
  'Simulator state': 'Everything the service knows: save, load, reset.',
  'Simulator inspector': 'What the page at `/` asks for.',
  'Simulator access': 'API keys, webhook endpoints and the addresses of tables.',
} as const

export type Tag = keyof typeof tags

/** The tags of the document, with the simulator's or without. */
export function tagList(simulator: boolean): Json[] {
  return Object.entries(tags)
    .filter(([name]) => simulator || !isOfSimulator(name))
    .map(([name, description]) => ({ name, description }))
}

function isOfSimulator(name: string): boolean {
  return name.startsWith('Simulator')
}
