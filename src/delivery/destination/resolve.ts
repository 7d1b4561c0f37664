import { lookup } from 'node:dns/promises'
import { isLocalhost } from './url.ts'
import { timers } from '../../timers.ts'

/** Resolves a name to its addresses. Rejects when there are none. */
export type Resolve = (hostname: string) => Promise<readonly string[]>

/** Longest wait for a resolver at registration; each attempt checks the address again. */
const RESOLVE_TIMEOUT_MS = 3_000

/** Uses the system's resolver: its hosts file and name servers. */
export const resolveBySystem: Resolve = async (hostname) => {
  const found = await lookup(hostname, { all: true })
  return found.map(({ address }) => address)
}

/**
 * Resolves `localhost` without the resolver, whose few threads slow names can fill. Connecting tries both addresses.
 */
export function withLocalhost(resolve: Resolve): Resolve {
  return async (hostname) => (isLocalhost(hostname) ? ['127.0.0.1', '::1'] : resolve(hostname))
}

/** Resolves a name; returns no addresses when there are none or the resolver is not in time. */
export async function resolveInTime(resolve: Resolve, hostname: string): Promise<readonly string[]> {
  const answered = new AbortController()
  const late = timers.sleep(RESOLVE_TIMEOUT_MS, [], { signal: answered.signal, ref: false }).catch(() => [])
  try {
    return await Promise.race([resolve(hostname).catch(() => []), late])
  } finally {
    answered.abort()
  }
}
