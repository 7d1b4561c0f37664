import { hostname } from 'node:os'
import ipaddr from 'ipaddr.js'

/** A subject name of a certificate. */
export interface SubjectName {
  type: 'dns' | 'ip'
  value: string
}

/** The extension of X.509 that limits an authority (RFC 5280 section 4.2.1.10). */
export const NAME_CONSTRAINTS = '2.5.29.30'

/** Names that no public site has: of this machine, of local networks, and those that are reserved (RFC 6761, RFC 8375). */
const LOCAL_NAMES = ['localhost', 'local', 'test', 'internal', 'example', 'invalid', 'home.arpa', 'lan']

/** Addresses that no public site has: loopback, private and link-local ones. */
const LOCAL_RANGES = [
  ...['127.0.0.0/8', '10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', '169.254.0.0/16', '100.64.0.0/10'],
  ...['::1/128', 'fc00::/7', 'fe80::/10'],
]

/** Tags of DER (X.690): a sequence, the permitted names, a DNS name, an address with its mask. */
const TAG = { sequence: 0x30, permitted: 0xa0, dns: 0x82, ip: 0x87 } as const

/**
 * Returns the constraints of an authority, in DER: it can issue certificates for local names and addresses, for this
 * machine's name and names below it, and for `names`.
 */
export function constraintsFor(names: readonly SubjectName[]): Uint8Array<ArrayBuffer> {
  const dns = [...LOCAL_NAMES, hostname().toLowerCase(), ...valuesOf(names, 'dns')].map((name) =>
    element(TAG.dns, Buffer.from(name.replace(/^\*\./, ''), 'latin1')),
  )
  const own = valuesOf(names, 'ip').map(
    (address) => `${address}/${ipaddr.parse(address).kind() === 'ipv4' ? 32 : 128}`,
  )
  const ip = [...LOCAL_RANGES, ...own].map((range) => element(TAG.ip, bytesOf(range)))
  const subtrees = [...new Map([...dns, ...ip].map((one) => [one.toString('hex'), one])).values()]
  const permitted = Buffer.concat(subtrees.map((base) => element(TAG.sequence, base)))
  return new Uint8Array(element(TAG.sequence, element(TAG.permitted, permitted)))
}

/** Returns the first of these names that the constraints, in DER, do not permit. */
export function notPermitted(
  constraints: Uint8Array,
  names: readonly SubjectName[],
): SubjectName | undefined {
  const [outer] = elementsOf(Buffer.from(constraints))
  const [permitted] = outer === undefined ? [] : elementsOf(outer.content)
  const bases = (permitted === undefined ? [] : elementsOf(permitted.content)).flatMap(({ content }) =>
    elementsOf(content),
  )
  return names.find(({ type, value }) => {
    const same = bases.filter(({ tag }) => tag === TAG[type])
    return !same.some(({ content }) =>
      type === 'dns' ? isBelow(value, content.toString('latin1')) : isWithin(value, content),
    )
  })
}

function valuesOf(names: readonly SubjectName[], type: SubjectName['type']): string[] {
  return names.filter((name) => name.type === type).map(({ value }) => value)
}

function isBelow(name: string, base: string): boolean {
  const bare = name.replace(/^\*\./, '')
  return bare === base || bare.endsWith(`.${base}`)
}

function isWithin(address: string, range: Buffer): boolean {
  const bytes = ipaddr.parse(address).toByteArray()
  const half = range.length / 2
  return bytes.length === half && bytes.every((byte, at) => (byte & (range[half + at] ?? 0)) === range[at])
}

/** An address and its mask: 8 bytes for IPv4, 32 for IPv6. */
function bytesOf(range: string): Buffer {
  const [address, prefix] = ipaddr.parseCIDR(range)
  const bytes = address.toByteArray()
  const mask = bytes.map((_byte, at) => 0xff & ~(0xff >> Math.min(Math.max(prefix - at * 8, 0), 8)))
  return Buffer.from([...bytes, ...mask])
}

/** Lengths below 65,536 are enough for a few dozen names. */
function element(tag: number, content: Buffer): Buffer {
  const { length } = content
  const head = length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff]
  return Buffer.concat([Buffer.from([tag, ...head]), content])
}

function elementsOf(bytes: Buffer): { tag: number; content: Buffer }[] {
  const found: { tag: number; content: Buffer }[] = []
  for (let at = 0; at + 1 < bytes.length;) {
    const [tag = 0, first = 0] = bytes.subarray(at, at + 2)
    const sized = first < 0x80 ? 0 : first & 0x7f
    const length = sized === 0 ? first : bytes.readUIntBE(at + 2, Math.min(sized, 6))
    const start = at + 2 + sized
    found.push({ tag, content: bytes.subarray(start, start + length) })
    at = start + length
  }
  return found
}
