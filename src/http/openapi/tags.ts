import type { Json } from './json.ts'

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
