/** A heading of the list of commands, with the commands and topics below it, in the order in which one meets them. */
export interface Group {
  heading: string
  names: readonly string[]
}

/** Every command and topic has its place here; one that has none yet is listed under {@link OTHERS}. */
export const groups: readonly Group[] = [
  {
    heading: 'THE SERVICE',
    names: ['start', 'open', 'demo', 'doctor', 'state', 'clock', 'faults', 'keys', 'config'],
  },
  { heading: 'CHECKS AND GUESTS', names: ['push', 'checks', 'locations', 'guests', 'qr', 'scenario'] },
  {
    heading: 'WEBHOOKS',
    names: ['endpoints', 'ping', 'tail', 'listen', 'trigger', 'events', 'deliveries'],
  },
  { heading: 'RECEIVERS', names: ['receiver', 'verify', 'sign', 'certs'] },
  { heading: 'PROOF', names: ['report', 'contract', 'openapi'] },
  { heading: 'THE SHELL', names: ['completion'] },
]

export const OTHERS = 'MORE'

/** The names that are known, each below its heading; `help` alone needs no line, since whoever reads it has found it. */
export function grouped(names: readonly string[]): Group[] {
  const placed = new Set(['help', ...groups.flatMap((group) => group.names)])
  const others = { heading: OTHERS, names: names.filter((name) => !placed.has(name)) }
  return [...groups, others]
    .map(({ heading, names: wanted }) => ({ heading, names: wanted.filter((name) => names.includes(name)) }))
    .filter(({ names: found }) => found.length > 0)
}
