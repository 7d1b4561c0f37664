import { lookup } from 'node:dns/promises'
import { isLocalhost } from './url.ts'
import { timers } from '../../timers.ts'

/** The addresses of a name. Rejects when there are none. */
export type Resolve = (hostname: string) => Promise<readonly string[]>

/** Registration waits no longer than this for a resolver: sending judges the address again. */
const RESOLVE_TIMEOUT_MS = 3_000

/** Asks the system: its hosts file, its name servers. */
export const resolveBySystem: Resolve = async (hostname) => {
  const found = await lookup(hostname, { all: true })
  return found.map(({ address }) => address)
}

/**
 * Answers for `localhost` without asking: names that take long to resolve fill the few threads that resolving has, and
 * a receiver on this machine must not wait for them. Connecting tries both addresses.
 */
export function withLocalhost(resolve: Resolve): Resolve {
  return async (hostname) => (isLocalhost(hostname) ? ['127.0.0.1', '::1'] : resolve(hostname))
}

/** The addresses of a name, none when there are none or the resolver does not answer in time. */
export async function resolveInTime(resolve: Resolve, hostname: string): Promise<readonly string[]> {
  const answered = new AbortController()
  const late = timers.sleep(RESOLVE_TIMEOUT_MS, [], { signal: answered.signal, ref: false }).catch(() => [])
  try {
    return await Promise.race([resolve(hostname).catch(() => []), late])
  } finally {
    answered.abort()
  }
}
