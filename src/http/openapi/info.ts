import type { Json } from './json.ts'

const about = `A restaurant table-payment service. A point-of-sale system (POS) pushes the complete current state of its checks.
Guests claim items and pay at the table. Receivers get signed, retried webhooks.

- Amounts are integers in minor units. Times are ISO 8601 in UTC.
- Request bodies are JSON in UTF-8, with \`Content-Type: application/json\`.
- Every response has the header \`X-Request-Id\`, also errors.
- Lists are newest first: pass \`next_cursor\` as \`cursor\` until it is null.
- \`HEAD\` works wherever \`GET\` does. Other methods on a known path return 405 with \`Allow\`, unknown paths 404.
- An API key belongs to one location. Its checks and webhook endpoints belong to the same location.
- A call without a valid key returns 401 before any other check but those of Host and Origin.
- Requests that are not valid HTTP/1.1 or HTTP/1.0 return 400, 408, 431 or 505 in the same error format.
- Errors have one format: \`code\` for programs, \`message\` for people, \`request_id\`, and details per code.`

const simulated = `

Everything under \`/_sim\` and \`/t\` belongs to the simulator, not to a real service. Its operations are marked with
\`x-simulator-only\`. Operations under \`/_sim\` control and inspect the service. Operations under \`/t\` serve the guest page:
the token in the path replaces the API key, so they never return 401 or 429.

This document omits the pages at \`/\` and \`/docs\` with their files under \`/assets\`, and itself at \`/openapi.json\`.
It also omits what is for coding agents: \`/llms.txt\` and the MCP server at \`/mcp\`.`

/** Returns the info object. Its version is the segment in the API's paths (specification section 9). */
export function info(simulator: boolean): Json {
  return {
    title: 'Check ingestion and webhooks',
    version: '1',
    summary: 'Push checks, receive signed webhooks.',
    description: about + (simulator ? simulated : ''),
    license: { name: 'MIT', identifier: 'MIT' },
  }
}

/** Groups of operations. Groups whose name starts with "Simulator" do not exist in a real service. */
const tags = {
  Locations: "The restaurant's locations (specification section 4).",
  Checks: 'Push and read the complete current state of checks (specification sections 2 and 4).',
  Claims: 'Items that guests have claimed.',
  Payments: 'Payments of guests.',
  Feedback: 'Ratings and comments of guests.',
  'Webhook endpoints':
    'Register receivers of events and send pings (specification sections 4 to 6). A delivery without a 2xx response within 10 seconds is retried after 1 minute, 5 minutes, 30 minutes, 2 hours, 8 hours and 24 hours. Then it is dead. Informational responses (1xx) are skipped, up to 16 KiB. If a reused connection closes before any byte of a response, the same attempt is sent once more on a new connection.',
  'Simulator guests': 'Act as a guest: claim, pay, rate.',
  'Simulator guest page':
    'Operations of the guest page, which opens by the QR code of a table. A secret token in the path gives access instead of an API key; a wrong token returns 404. `X-Guest-Id` identifies each guest. Guests can claim, pay and rate at this table, but not refund.',
  'Simulator deliveries': 'List, inspect and resend deliveries.',
  'Simulator events': 'List events and their exact bodies.',
  'Simulator requests': 'Logged requests, and findings about pushes.',
  'Simulator clock': 'Service clock and fault injection.',
  'Simulator state': 'Save, load and reset all data of the service.',
  'Simulator inspector': 'Operations of the inspector, the page at `/`.',
  'Simulator access': 'API keys, webhook endpoints and addresses of guest pages.',
} as const

export type Tag = keyof typeof tags

/** Returns the tags of the document, with or without the simulator's. */
export function tagList(simulator: boolean): Json[] {
  return Object.entries(tags)
    .filter(([name]) => simulator || !isOfSimulator(name))
    .map(([name, description]) => ({ name, description }))
}

function isOfSimulator(name: string): boolean {
  return name.startsWith('Simulator')
}
