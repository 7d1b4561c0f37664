import ipaddr from 'ipaddr.js'
import { isIP } from 'node:net'
import { networkInterfaces } from 'node:os'

/** Class of an address as a destination, worst first: `forbidden` is infrastructure, `internal` the user's own machines. */
interface AddressClass {
  level: 'forbidden' | 'internal' | 'public'
  /** In words: `a link-local address`. */
  kind: string
}

type Address = ipaddr.IPv4 | ipaddr.IPv6
type Range = ReturnType<Address['range']> | 'deprecatedSiteLocal'

/** Cloud metadata services, which hold a machine's credentials; 169.254.169.254 is covered by the link-local range. */
const metadataAddresses = new Set([
  'fd00:ec2::254', // AWS
  'fd00:ec2::23', // AWS, credentials of pods in EKS
  'fd20:ce::254', // Google Cloud
  '100.100.100.200', // Alibaba Cloud
  '168.63.129.16', // Azure
  '192.0.0.192', // Oracle Cloud
])

const forbiddenRanges: Partial<Record<Range, string>> = {
  unspecified: 'an unspecified address',
  linkLocal: 'a link-local address, which serves machine credentials in clouds',
  multicast: 'a multicast address',
  broadcast: 'the broadcast address',
}

const internalRanges: Partial<Record<Range, string>> = {
  loopback: 'a loopback address',
  private: 'a private address',
  uniqueLocal: 'a private address',
  deprecatedSiteLocal: 'a private address',
  carrierGradeNat: 'a carrier-grade NAT address',
}

/** IPv6 ranges that embed an IPv4 address, which they reach, and the byte at which it starts. */
const embeddings: readonly { prefix: string; at: number; inverted?: true }[] = [
  { prefix: '::ffff:0:0/96', at: 12 }, // IPv4-mapped
  { prefix: '::/96', at: 12 }, // IPv4-compatible
  { prefix: '::ffff:0:0:0/96', at: 12 }, // IPv4-translated (RFC 2765)
  { prefix: '64:ff9b::/96', at: 12 }, // NAT64 (RFC 6052)
  { prefix: '64:ff9b:1::/48', at: 12 }, // NAT64 of a site (RFC 8215)
  { prefix: '2002::/16', at: 2 }, // 6to4
  { prefix: '2001::/32', at: 4 }, // Teredo: its server
  { prefix: '2001::/32', at: 12, inverted: true }, // Teredo: its client
]

/** The block that public IPv6 addresses are assigned from (RFC 4291 section 2.4). */
const globalUnicast = ipaddr.IPv6.parseCIDR('2000::/3')

/** Ranges outside that block whose embedded IPv4 address is reachable from anywhere. */
const globalEmbeddings = ['::ffff:0:0/96', '64:ff9b::/96'].map((prefix) => ipaddr.IPv6.parseCIDR(prefix))

/** Classifies a literal IP address in any spelling; `undefined` when the text is not an IP address. */
export function classifyAddress(text: string): AddressClass | undefined {
  const classes = addressesIn(text).map(classifyOne)
  return (
    classes.find(({ level }) => level === 'forbidden') ??
    classes.find(({ level }) => level === 'internal') ??
    classes[0]
  )
}

/** True when a literal IP address, or the IPv4 address that it embeds, is loopback. */
export function isLoopback(text: string): boolean {
  return addressesIn(text).some((address) => address.range() === 'loopback')
}

/** True for `0.0.0.0` and `::`, which a server binds to for all addresses of its machine. */
export function isUnspecified(text: string): boolean {
  return addressesIn(text).some((address) => address.range() === 'unspecified')
}

/** True when two literal IP addresses, or IPv4 addresses that they embed, are equal. */
function isSameAddress(one: string, other: string): boolean {
  const names = new Set(addressesIn(other).map(String))
  return addressesIn(one).some((address) => names.has(address.toString()))
}

/** Parses an address and the IPv4 addresses that it embeds. A zone (`%eth0`) is ignored. */
function addressesIn(text: string): Address[] {
  const bare = text.replace(/%.*$/s, '')
  if (!ipaddr.isValid(bare)) return []
  const address = ipaddr.parse(bare)
  return address instanceof ipaddr.IPv6 ? [address, ...embeddedIn(address)] : [address]
}

function embeddedIn(address: ipaddr.IPv6): Address[] {
  if (address.range() === 'loopback' || address.range() === 'unspecified') return []
  const bytes = address.toByteArray()
  return embeddings
    .filter(({ prefix }) => address.match(ipaddr.IPv6.parseCIDR(prefix)))
    .map(({ at, inverted }) => bytes.slice(at, at + 4).map((byte) => (inverted ? byte ^ 0xff : byte)))
    .map((carried) => ipaddr.fromByteArray(carried))
}

function classifyOne(address: Address): AddressClass {
  const range: Range = address.range()
  if (metadataAddresses.has(address.toString()))
    return { level: 'forbidden', kind: 'the address of a cloud metadata service' }
  const forbidden = forbiddenRanges[range]
  if (forbidden !== undefined) return { level: 'forbidden', kind: forbidden }
  const internal = internalRanges[range]
  if (internal !== undefined) return { level: 'internal', kind: internal }
  return isPublic(address, range)
    ? { level: 'public', kind: 'a public address' }
    : { level: 'internal', kind: 'a reserved address' }
}

/** All other ranges are special-purpose in IANA's registries, or unassigned. */
function isPublic(address: Address, range: Range): boolean {
  if (address instanceof ipaddr.IPv4) return range === 'unicast'
  if (globalEmbeddings.some((prefix) => address.match(prefix))) return true
  return address.match(globalUnicast) && ['unicast', '6to4', 'teredo'].includes(range)
}

/** The address that this service listens on. `host` is as it was bound: `127.0.0.1`, `::`, `localhost`. */
export interface OwnAddress {
  host: string
  port: number
}

/** True when connecting to this address and port reaches the service itself. */
export function isOwn(address: string, port: number, own: OwnAddress): boolean {
  if (port !== own.port) return false
  const host = own.host.replace(/^\[(.*)\]$/, '$1')
  const boundToLoopback = host === 'localhost' || isLoopback(host)
  // A host name may resolve to any address of this machine.
  const boundToAny = isUnspecified(host) || (isIP(host) === 0 && !boundToLoopback)
  if (isLoopback(address)) return boundToAny || boundToLoopback
  return boundToAny ? isOfThisMachine(address) : isSameAddress(address, host)
}

function isOfThisMachine(address: string): boolean {
  return Object.values(networkInterfaces())
    .flatMap((list) => list ?? [])
    .some((own) => isSameAddress(address, own.address))
}
