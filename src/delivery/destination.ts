import { lookup as systemLookup } from 'node:dns/promises'
import { isIP, type LookupFunction } from 'node:net'
import { networkInterfaces } from 'node:os'
import { setTimeout as delay } from 'node:timers/promises'
import { isLoopback, isSameAddress, isUnspecified, judgeAddress } from './address-policy.ts'

/** Where this service itself listens. `host` is what it was bound to, such as `127.0.0.1`, `::` or `localhost`. */
export interface OwnAddress {
  host: string
  port: number
}

/** The addresses of a name. Rejects when there are none. */
export type Resolve = (hostname: string) => Promise<readonly string[]>

export interface DestinationSettings {
  /** Accept `http:` for loopback hosts. */
  allowHttpLoopback: boolean
  /** Refuse loopback, private and reserved addresses too. */
  denyPrivate: boolean
  /** Where this service listens, once it does: it sends nothing to itself. */
  own: () => OwnAddress | undefined
  /** How names become addresses; the system's resolver unless said otherwise. */
  resolve?: Resolve
}

/** Decides where deliveries may go (contract section 9), when an endpoint is registered and again at each sending. */
export interface DestinationPolicy {
  /** Why this URL may not be registered, and what to do; `undefined` when it may. Resolves its name. */
  refuse(url: string): Promise<string | undefined>
  /** The same as far as the text alone tells: scheme, form, literal address. */
  inspect(url: string): string | undefined
  /** A `lookup` for connecting to this port: fails with `AddressRefused` when any address of the name is refused. */
  lookup(port: number): LookupFunction
}

/** A connection that was not made because of the address that a name resolved to. */
export class AddressRefused extends Error {
  readonly code = 'TABWIRE_ADDRESS_REFUSED'
}

const MAX_URL_LENGTH = 2048

/** Registration waits no longer than this for a resolver: sending judges the address again. */
const RESOLVE_TIMEOUT_MS = 3_000

export function createDestinationPolicy(settings: DestinationSettings): DestinationPolicy {
  const resolve = settings.resolve ?? resolveBySystem
  const judge = (address: string, port: number) => judgeDestination(address, port, settings)
  const inspect = (url: string) => refuseForm(url, settings) ?? refuseLiteral(new URL(url), judge)
  return {
    inspect,
    async refuse(url) {
      const reason = inspect(url)
      if (reason !== undefined) return reason
      const { hostname, ...rest } = destinationOf(new URL(url))
      if (isIP(hostname) !== 0) return undefined
      const addresses = await inTime(resolve(hostname)).catch(() => [])
      return refuseAny(hostname, addresses, (address) => judge(address, rest.port))
    },
    lookup: (port) => (hostname, options, callback) => {
      resolve(hostname)
        .then((addresses) => {
          const reason = refuseAny(hostname, addresses, (address) => judge(address, port))
          if (reason !== undefined) throw new AddressRefused(reason)
          return addresses.map((address) => ({ address, family: isIP(address) }))
        })
        .then(
          (found) => answerLookup(found, options.all === true, callback),
          (error: NodeJS.ErrnoException) => callback(error, options.all === true ? [] : ''),
        )
    },
  }
}

/** Host and port that a URL names; brackets of IPv6 and the dot of a fully qualified name are not part of the host. */
export function destinationOf(url: URL): { hostname: string; port: number } {
  const hostname = url.hostname.replace(/^\[(.*)\]$/, '$1').replace(/\.$/, '')
  return { hostname, port: url.port === '' ? (url.protocol === 'http:' ? 80 : 443) : Number(url.port) }
}

/** Checks of the text alone, in the order in which a person would correct it. */
function refuseForm(text: string, settings: DestinationSettings): string | undefined {
  if (text.length > MAX_URL_LENGTH) return `must be at most ${MAX_URL_LENGTH} characters long`
  // new URL() repairs blanks, line breaks and backslashes; what is stored would not be what is called.
  if (!/^[a-z][a-z0-9+.-]*:\/\/[^/]/i.test(text) || /[\s\\\p{Cc}]/u.test(text) || !URL.canParse(text))
    return 'must be an absolute URL such as https://example.com/webhooks'
  const url = new URL(text)
  return refuseScheme(url, settings) ?? refuseParts(url, text)
}

function refuseScheme(url: URL, { allowHttpLoopback }: DestinationSettings): string | undefined {
  if (url.protocol === 'https:') return undefined
  if (url.protocol !== 'http:') return `must be an https: URL, not ${url.protocol}`
  if (!isLoopbackHost(url))
    return 'must be an https: URL; http: is accepted for loopback hosts alone, with --allow-http-loopback'
  return allowHttpLoopback
    ? undefined
    : 'must be an https: URL. Use `tabwire listen --forward-to` for a plain http receiver, `tabwire certs create` for a certificate, or start with --allow-http-loopback'
}

function refuseParts(url: URL, text: string): string | undefined {
  // The parser drops an empty user name, which is there in what would be stored.
  if (/^[^/]*\/\/[^/?#]*@/.test(text))
    return 'must not carry a user name or password; receivers are authenticated by the signature'
  if (url.href.includes('#')) return 'must not have a fragment (#…), which is never sent'
  if (url.port === '0') return 'must not name port 0, to which nothing can be sent'
  return undefined
}

function isLoopbackHost(url: URL): boolean {
  const { hostname } = destinationOf(url)
  return hostname === 'localhost' || isLoopback(hostname)
}

type Judge = (address: string, port: number) => string | undefined

function refuseLiteral(url: URL, judge: Judge): string | undefined {
  const { hostname, port } = destinationOf(url)
  return isIP(hostname) === 0 ? undefined : judge(hostname, port)
}

/** One address that is refused refuses the name: which one a connection takes is not ours to choose. */
function refuseAny(
  hostname: string,
  addresses: readonly string[],
  judge: (address: string) => string | undefined,
): string | undefined {
  for (const address of addresses) {
    const reason = judge(address)
    if (reason !== undefined) return `${reason} (${hostname} resolves to ${address})`
  }
  return undefined
}

function judgeDestination(address: string, port: number, settings: DestinationSettings): string | undefined {
  const { standing, kind } = judgeAddress(address) ?? { standing: 'forbidden', kind: 'no address' }
  if (standing === 'forbidden')
    return `must not lead to ${kind}: nothing is ever sent there. Use the address of your receiver`
  if (standing === 'internal' && settings.denyPrivate)
    return `must not lead to ${kind}, because --deny-private is set. Use a public address, or start without it`
  const own = settings.own()
  if (own !== undefined && isOwn(address, port, own))
    return `must not lead to this service itself, which listens on port ${port}. Use the port of your receiver`
  return undefined
}

function isOwn(address: string, port: number, own: OwnAddress): boolean {
  if (port !== own.port) return false
  const host = own.host.replace(/^\[(.*)\]$/, '$1')
  const boundToLoopback = host === 'localhost' || isLoopback(host)
  // A host name is some address of this machine, and which ones is the resolver's business.
  const boundToAny = isUnspecified(host) || (isIP(host) === 0 && !boundToLoopback)
  if (isLoopback(address)) return boundToAny || boundToLoopback
  return boundToAny ? isOfThisMachine(address) : isSameAddress(address, host)
}

function isOfThisMachine(address: string): boolean {
  return Object.values(networkInterfaces())
    .flatMap((list) => list ?? [])
    .some((own) => isSameAddress(address, own.address))
}

type LookupCallback = Parameters<LookupFunction>[2]
interface Found {
  address: string
  family: number
}

function answerLookup(found: Found[], all: boolean, callback: LookupCallback): void {
  if (all) return callback(null, found)
  const [first] = found
  callback(null, first?.address ?? '', first?.family)
}

async function resolveBySystem(hostname: string): Promise<string[]> {
  const found = await systemLookup(hostname, { all: true })
  return found.map(({ address }) => address)
}

/** Gives up on a resolver that does not answer, and on its timer once it has. */
async function inTime(addresses: Promise<readonly string[]>): Promise<readonly string[]> {
  const answered = new AbortController()
  const late = delay(RESOLVE_TIMEOUT_MS, [], { signal: answered.signal, ref: false })
  try {
    return await Promise.race([addresses, late])
  } finally {
    late.catch(() => undefined)
    answered.abort()
  }
}
