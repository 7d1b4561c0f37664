import { isIP, type LookupFunction } from 'node:net'
import { isLoopback, classifyAddress, isOwn, type OwnAddress } from './address.ts'
import { destinationOf, isLocalhost, refuseForm } from './url.ts'
import { memoize } from '../memoize.ts'
import { withLocalhost, resolveBySystem, resolveInTime, type Resolve } from './resolve.ts'

export type { OwnAddress } from './address.ts'
export type { Resolve } from './resolve.ts'

export interface DestinationSettings {
  /** Accept `http:` for loopback hosts. */
  allowHttpLoopback: boolean
  /** Refuse loopback, private and reserved addresses too. */
  denyPrivate: boolean
  /** Send over the network to loopback hosts only. Handlers of this process take any URL. */
  loopbackOnly?: boolean
  /** Where this service listens, once it does: it sends nothing to itself. */
  own: () => OwnAddress | undefined
  /** How names other than `localhost` become addresses; the system's resolver unless said otherwise. */
  resolve?: Resolve
}

/** Decides where deliveries may go (contract section 9), when an endpoint is registered and again at each sending. */
export interface DestinationPolicy {
  /** Why this URL may not be registered, and what to do; `undefined` when it may. Resolves its name. */
  refuse(url: string): Promise<string | undefined>
  /** The same as far as the text alone tells: form, scheme, literal address. */
  inspect(url: string): string | undefined
  /** Why nothing is sent to this URL over the network, whether it is registered or not. Resolves no name. */
  refuseNetwork(url: string): string | undefined
  /** A `lookup` for connecting to this port: fails with `AddressRefused` when any address of the name is refused. */
  lookup(port: number): LookupFunction
}

/** A connection that was not made because of where it leads. */
export class AddressRefused extends Error {
  readonly code = 'TABWIRE_ADDRESS_REFUSED'
}

export function createDestinationPolicy(settings: DestinationSettings): DestinationPolicy {
  const resolve = withLocalhost(settings.resolve ?? resolveBySystem)
  const refuseAll = (hostname: string, addresses: readonly string[], port: number) =>
    refuseAny(hostname, addresses, (address) => refuseAddress(address, port, settings))
  const formOf = memoize((url) => {
    const reason = refuseForm(url, settings.allowHttpLoopback)
    return reason === undefined ? destinationOf(new URL(url)) : { reason }
  })
  const inspect = (url: string) => {
    const form = formOf(url)
    if ('reason' in form) return form.reason
    return isIP(form.hostname) === 0 ? undefined : refuseAddress(form.hostname, form.port, settings)
  }
  const refuseNetwork = (url: string) => {
    if (settings.loopbackOnly !== true) return undefined
    const { hostname } = destinationOf(new URL(url))
    return isLocalhost(hostname) || isLoopback(hostname) ? undefined : beyondLoopback(url)
  }
  return {
    inspect,
    refuseNetwork,
    async refuse(url) {
      const reason = inspect(url)
      if (reason !== undefined) return reason
      const { hostname, port } = destinationOf(new URL(url))
      if (isIP(hostname) !== 0 || refuseNetwork(url) !== undefined) return undefined
      return refuseAll(hostname, await resolveInTime(resolve, hostname), port)
    },
    lookup: (port) => (hostname, options, callback) => {
      const judged = resolve(hostname).then((addresses) => {
        const reason = refuseAll(hostname, addresses, port)
        if (reason !== undefined) throw new AddressRefused(reason)
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

function refuseAddress(address: string, port: number, settings: DestinationSettings): string | undefined {
  const { level, kind } = classify(address) ?? { level: 'forbidden', kind: 'what is no address' }
  if (level === 'forbidden')
    return `must not lead to ${kind}: nothing is ever sent there. Use the address of your receiver`
  if (level === 'internal' && settings.denyPrivate)
    return `must not lead to ${kind}, because --deny-private is set. Use a public address, or start without it`
  const own = settings.own()
  if (own !== undefined && isOwn(address, port, own))
    return `must not lead to this service itself, which listens on port ${port}. Use the port of your receiver`
  return undefined
}

function beyondLoopback(url: string): string {
  return `leads out of this machine, and this simulator sends to loopback addresses only. Take its deliveries with simulator.receive(${JSON.stringify(new URL(url).origin)}, handler), or create the simulator with network: 'any'`
}

/** One address that is refused refuses the name: which one a connection takes is not ours to choose. */
function refuseAny(
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

/** Node asks for all addresses of a name, or, without its happy eyeballs, for one. */
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
