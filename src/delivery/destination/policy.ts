import { isIP, type LookupFunction } from 'node:net'
import { isLoopback, classifyAddress, isOwn, type OwnAddress } from './address.ts'
import { isLocalhost } from '../../model/url.ts'
import { destinationOf, whyFormRefused, memoize, type PlainHttp } from './url.ts'
import { isReservedHost } from '../../model/offer.ts'
import { timers } from '../../timers.ts'

export type { OwnAddress } from './address.ts'

export interface DestinationSettings extends PlainHttp {
  /** Also refuses loopback, private and reserved addresses. */
  denyPrivate: boolean
  /** Sends over the network to loopback hosts only; in-process receivers take any URL. */
  loopbackOnly?: boolean
  /** Has the service's own address once it listens; deliveries to it are refused. */
  own: { readonly address?: OwnAddress }
  /** Resolves names other than `localhost`; default: the system's resolver. */
  resolve?: Resolve
}

/** Decides where deliveries may go (contract section 9): at registration, and again for each attempt. */
export interface DestinationPolicy {
  /** Returns why a URL cannot be registered and how to fix it; `undefined` when it can. Resolves its name. */
  whyRefused(url: string): Promise<string | undefined>
  /** Like `whyRefused`, but checks the text alone: form, scheme, literal address. */
  whyTextRefused(url: string): string | undefined
  /** Returns why `loopbackOnly` keeps a URL off the network; `undefined` when it does not. Resolves no name. */
  whyOffNetwork(url: string): string | undefined
  /** Returns a `lookup` for connecting to a port. It fails with `AddressRefused` when any address of the name is refused. */
  lookup(port: number): LookupFunction
}

/** A connection that the policy refused. */
export class AddressRefused extends Error {
  readonly code = 'TABWIRE_ADDRESS_REFUSED'
}

/** A name without addresses. Node's resolver never returns an empty list, and `net.connect` throws on one. */
class NameNotFound extends Error {
  readonly code = 'ENOTFOUND'
}

export function createDestinationPolicy(settings: DestinationSettings): DestinationPolicy {
  const resolve = withReserved(oncePerName(settings.resolve ?? resolveBySystem))
  const whyAnyRefused = (hostname: string, addresses: readonly string[], port: number) =>
    firstReason(hostname, addresses, (address) => whyAddressRefused(address, port, settings))
  const formOf = memoize((url) => {
    const reason = whyFormRefused(url, settings)
    return reason === undefined ? destinationOf(new URL(url)) : { reason }
  })
  const whyTextRefused = (url: string) => {
    const form = formOf(url)
    if ('reason' in form) return form.reason
    return isIP(form.hostname) === 0 ? undefined : whyAddressRefused(form.hostname, form.port, settings)
  }
  const whyOffNetwork = (url: string) => {
    if (settings.loopbackOnly !== true) return undefined
    const { hostname } = destinationOf(new URL(url))
    return isLocalhost(hostname) || isLoopback(hostname) ? undefined : beyondLoopback(url)
  }
  return {
    whyTextRefused,
    whyOffNetwork,
    async whyRefused(url) {
      const reason = whyTextRefused(url)
      if (reason !== undefined) return reason
      const { hostname, port } = destinationOf(new URL(url))
      if (isIP(hostname) !== 0 || whyOffNetwork(url) !== undefined) return undefined
      return whyAnyRefused(hostname, await resolveInTime(resolve, hostname), port)
    },
    lookup: (port) => (hostname, options, callback) => {
      const judged = resolve(hostname).then((addresses) => {
        const reason = whyAnyRefused(hostname, addresses, port)
        if (reason !== undefined) throw new AddressRefused(reason)
        if (addresses.length === 0) throw new NameNotFound(`${hostname} has no address`)
        return addresses
      })
      judged.then(
        (addresses) => answerLookup(addresses, options.all === true, callback),
        (error: unknown) => callback(error as NodeJS.ErrnoException, []),
      )
    },
  }
}

const classify = memoize(classifyAddress)

function whyAddressRefused(address: string, port: number, settings: DestinationSettings): string | undefined {
  const { level, kind } = classify(address) ?? { level: 'forbidden', kind: 'an invalid address' }
  if (level === 'forbidden')
    return `must not point to ${kind}: deliveries are never sent there. Use the address of your receiver`
  if (level === 'internal' && settings.denyPrivate)
    return `must not point to ${kind}, because --deny-private is set. Use a public address, or start with --no-deny-private (denyPrivate: false in the library)`
  const own = settings.own.address
  if (own !== undefined && isOwn(address, port, own))
    return `must not point to this service itself (port ${port}). Use the port of your receiver`
  return undefined
}

function beyondLoopback(url: string): string {
  return `must be a loopback address, because this simulator sends to no other. Receive its deliveries with simulator.receive(${JSON.stringify(new URL(url).origin)}, handler), or create the simulator with network: 'any'`
}

/** Returns why the first refused address of a name is refused, since Node chooses which one to connect to. */
function firstReason(
  hostname: string,
  addresses: readonly string[],
  refuse: (address: string) => string | undefined,
): string | undefined {
  for (const address of addresses) {
    const reason = refuse(address)
    if (reason !== undefined) return `${reason} (${hostname} resolves to ${address})`
  }
  return undefined
}

/** Node asks for all addresses of a name, or for one when its happy eyeballs are off. */
function answerLookup(
  addresses: readonly string[],
  all: boolean,
  callback: Parameters<LookupFunction>[2],
): void {
  const found = addresses.map((address) => ({ address, family: isIP(address) }))
  const [first] = found
  if (all || first === undefined) return callback(null, found)
  callback(null, first.address, first.family)
}

/** Resolves a name to its addresses; none for hosts of listeners. The system's resolver rejects a name without addresses. */
type Resolve = (hostname: string) => Promise<readonly string[]>

/** Longest wait for a resolver at registration; each attempt checks the address again. */
const RESOLVE_TIMEOUT_MS = 3_000

/** Uses the system's resolver: its hosts file and name servers. */
const resolveBySystem: Resolve = async (hostname) => {
  // Loaded late: this module sets up a resolver of its own, which takes up to 9 ms.
  const { lookup } = await import('node:dns/promises')
  const found = await lookup(hostname, { all: true })
  return found.map(({ address }) => address)
}

/**
 * Resolves a name once at a time: the system's resolver has few threads, and a name whose servers are silent holds one for up
 * to half a minute.
 */
function oncePerName(resolve: Resolve): Resolve {
  const running = new Map<string, ReturnType<Resolve>>()
  return (hostname) => {
    const found = running.get(hostname) ?? resolve(hostname).finally(() => running.delete(hostname))
    running.set(hostname, found)
    return found
  }
}

/**
 * Resolves `localhost` without the resolver, whose few threads slow names can fill. Connecting tries both addresses. Hosts
 * of listeners have no address.
 */
function withReserved(resolve: Resolve): Resolve {
  return async (hostname) => {
    if (isLocalhost(hostname)) return ['127.0.0.1', '::1']
    return isReservedHost(hostname) ? [] : resolve(hostname)
  }
}

/** Resolves a name; returns no addresses when there are none or the resolver is not in time. */
async function resolveInTime(resolve: Resolve, hostname: string): Promise<readonly string[]> {
  const answered = new AbortController()
  const late = timers.sleep(RESOLVE_TIMEOUT_MS, [], { signal: answered.signal, ref: false }).catch(() => [])
  try {
    return await Promise.race([resolve(hostname).catch(() => []), late])
  } finally {
    answered.abort()
  }
}
