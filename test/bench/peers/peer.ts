/** What a program is to serve, and where. */
export interface Place {
  /** Where npm has put it. */
  installed: string
  /** An empty directory of its own. */
  directory: string
  port: number
  /** How many checks it has from the start, named `check-0`, `check-1` … */
  records: number
  /** Where it is to tell of each change; `undefined` for nowhere. */
  hook: string | undefined
}

/** A program that can be asked to do the work of the service, or a part of it. */
export interface Peer {
  name: string
  /** What npm is asked for; `undefined` for what is built here. */
  package?: string
  /** The program does not run on the oldest Node that ours runs on. */
  needsNode24?: boolean
  /** Where its checks are; the name of one follows. */
  path: string
  /** What it is asked for until it answers; by default its first check. */
  firstAsked?: string
  /** It takes writes and forgets them: it cannot do this work, only answer. */
  keepsNothing?: boolean
  /** Writes its files, and tells the arguments for Node that start it. Started again with these, it has what it kept. */
  prepare(place: Place): string[]
  /** What has to be asked of it once it runs, before it is measured. */
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
