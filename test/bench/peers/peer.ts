/** The data that a program serves, and its port. */
export interface Place {
  /** Where npm has put it. */
  installed: string
  /** An empty directory of its own. */
  directory: string
  port: number
  /** How many checks it has from the start, named `check-0`, `check-1` … */
  records: number
  /** Webhook URL for changes; `undefined` for none. */
  hook: string | undefined
}

/** A program that can be asked to do the work of the service, or a part of it. */
export interface Peer {
  name: string
  /** The npm package; `undefined` for a local build. */
  package?: string
  /** True when the program does not run on our oldest Node. */
  needsNode24?: boolean
  /** Where its checks are; the name of one follows. */
  path: string
  /** Path to poll until it answers; the default is its first check. */
  firstAsked?: string
  /** It takes writes and forgets them: it cannot do this work, only answer. */
  keepsNothing?: boolean
  /** Writes its files and returns the Node arguments to start it. A second start with these keeps its data. */
  prepare(place: Place): string[]
  /** Prepares the running program for the measurement. */
  seedStore?(url: string, place: Place): Promise<void>
}

/** A check as it is stored before anything is measured. */
export const storedCheck = {
  table: { number: '12' },
  status: 'open',
  revision: 0,
  items: [
    { external_id: 'line-1', name: 'Copper Pan Burger', quantity: 1, price_cents: 1850, note: 'no onions' },
    { external_id: 'line-2', name: 'Hand-cut Fries', quantity: 2, price_cents: 525, note: null },
    { external_id: 'line-3', name: 'House Lemonade', quantity: 1, price_cents: 600 },
  ],
  totals: { subtotal_cents: 3500, tax_cents: 280, total_cents: 3780 },
}

export function storedChecks(records: number) {
  return Array.from({ length: records }, (_, n) => ({ id: `check-${n}`, ...storedCheck }))
}
