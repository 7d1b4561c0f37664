import type { X509Certificate } from '@peculiar/x509'
import ipaddr from 'ipaddr.js'
import { randomBytes, webcrypto } from 'node:crypto'
import { isIP } from 'node:net'
import { hostname } from 'node:os'
import { domainToASCII } from 'node:url'
import { timers } from '../timers.ts'

/** A certificate and its private key, both in PEM. */
export interface KeyPair {
  cert: string
  key: string
}

const { subtle } = webcrypto
const keyAlgorithm = { name: 'ECDSA', namedCurve: 'P-256' }
const signingAlgorithm = { name: 'ECDSA', hash: 'SHA-256' }

const DAY_MS = 24 * 60 * 60 * 1000
/**
 * Lifetime of the authority, in days: a little more than twice that of a server's certificate, to limit how long a
 * machine trusts it.
 */
const AUTHORITY_DAYS = 825
/** The longest that browsers and operating systems accept of a server. */
const SERVER_DAYS = 397
/** The longest common name that X.520 allows. */
const MAX_COMMON_NAME = 64

/**
 * Makes a certificate authority: self-signed, ECDSA P-256, 825 days, for server certificates and nothing below it. Clients
 * accept it for local names and addresses and for `hosts` alone, so that its key is worth little to a thief.
 */
export async function makeAuthority(hosts: readonly string[] = []): Promise<KeyPair> {
  const x509 = await loadX509()
  const keys = await generateKeys()
  const cert = await x509.X509CertificateGenerator.createSelfSigned({
    serialNumber: serialNumber(),
    // Unique, so that a chain is never looked for at another authority of the same name.
    name: [{ O: ['Tabwire'] }, { CN: [`Tabwire local authority ${randomBytes(4).toString('hex')}`] }],
    ...validity(AUTHORITY_DAYS),
    signingAlgorithm,
    keys,
    extensions: [
      new x509.BasicConstraintsExtension(true, 0, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign | x509.KeyUsageFlags.cRLSign, true),
      new x509.Extension(NAME_CONSTRAINTS, true, constraintsFor(hosts.map(subjectName)).buffer),
      await x509.SubjectKeyIdentifierExtension.create(keys.publicKey),
    ],
  })
  return pair(cert, keys.privateKey)
}

/**
 * Makes a server certificate for host names and addresses, signed by the authority; valid for 397 days.
 * @throws TypeError for an invalid host.
 */
export async function issueCertificate(authority: KeyPair, hosts: readonly string[]): Promise<KeyPair> {
  const x509 = await loadX509()
  const names = subjectNames(hosts)
  const dnsName = names.find(({ type }) => type === 'dns')?.value
  const issuer = new x509.X509Certificate(authority.cert)
  const keys = await generateKeys()
  const cert = await x509.X509CertificateGenerator.create({
    serialNumber: serialNumber(),
    // An address in the common name would count as a host name, which the authority's constraints do not permit.
    subject: [{ O: ['Tabwire'] }, { CN: [dnsName?.slice(0, MAX_COMMON_NAME) ?? 'Tabwire receiver'] }],
    issuer: issuer.subjectName,
    ...validity(SERVER_DAYS),
    signingAlgorithm,
    publicKey: keys.publicKey,
    signingKey: await importKey(authority.key),
    extensions: [
      new x509.BasicConstraintsExtension(false, undefined, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
      new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage.serverAuth]),
      new x509.SubjectAlternativeNameExtension(names),
      await x509.AuthorityKeyIdentifierExtension.create(issuer.publicKey),
      await x509.SubjectKeyIdentifierExtension.create(keys.publicKey),
    ],
  })
  return pair(cert, keys.privateKey)
}

/** @throws TypeError for a host that no authority can certify. */
export function requireHosts(hosts: readonly string[]): void {
  for (const host of hosts) subjectName(host)
}

/** @throws TypeError for a host that clients would not accept of this authority. */
export async function requirePermitted(authority: KeyPair, hosts: readonly string[]): Promise<void> {
  const permitted = await permittedHosts(authority, hosts)
  const outside = hosts.find((host) => !permitted.includes(host))
  if (outside === undefined) return
  throw new TypeError(
    `The local authority cannot certify ${subjectName(outside).value}. It is limited to this machine, local networks and the hosts given at its creation. To create an authority for this host, remove the folder ca in the data directory and run the command again. Receivers then need new certificates.`,
  )
}

/** Returns the hosts that clients accept of this authority. @throws TypeError for an invalid host. */
export async function permittedHosts(authority: KeyPair, hosts: readonly string[]): Promise<string[]> {
  const x509 = await loadX509()
  const constraints = new x509.X509Certificate(authority.cert).getExtension(NAME_CONSTRAINTS)?.value
  // Authorities of earlier versions have no constraints.
  const bases = constraints && permittedBy(new Uint8Array(constraints))
  return hosts.filter((host) => {
    const name = subjectName(host)
    return bases === undefined || isPermitted(bases, name)
  })
}

function generateKeys(): Promise<CryptoKeyPair> {
  return subtle.generateKey(keyAlgorithm, true, ['sign', 'verify'])
}

type CryptoKeyPair = webcrypto.CryptoKeyPair

/** A certificate that begins a day ago is valid on a machine whose clock is a little behind. */
function validity(days: number): { notBefore: Date; notAfter: Date } {
  const begin = timers.now() - DAY_MS
  return { notBefore: new Date(begin), notAfter: new Date(begin + days * DAY_MS) }
}

/** 128 random bits, the first two of them 01, so that the number is positive and never shorter. */
function serialNumber(): string {
  const bytes = randomBytes(16)
  bytes.writeUInt8((bytes.readUInt8() & 0x3f) | 0x40)
  return bytes.toString('hex')
}

function subjectNames(hosts: readonly string[]): SubjectName[] {
  if (hosts.length === 0) throw new Error('A certificate needs at least one host, such as localhost.')
  const names = hosts.map(subjectName)
  return [...new Map(names.map((name) => [name.value, name])).values()]
}

function subjectName(host: string): SubjectName {
  const bare = host.replace(/^\[(.*)\]$/, '$1')
  if (isIP(bare) !== 0) return { type: 'ip', value: bare }
  const value = domainToASCII(bare).toLowerCase().replace(/\.$/, '')
  if (
    !/^(\*\.)?([a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?\.)*[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?$/i.test(value)
  )
    throw new TypeError(
      `A host must be a host name or IP address without scheme, port or path, got ${JSON.stringify(host)}.`,
    )
  return { type: 'dns', value }
}

async function pair(certificate: X509Certificate, privateKey: webcrypto.CryptoKey): Promise<KeyPair> {
  const { PemConverter } = await loadX509()
  const key = PemConverter.encode(await subtle.exportKey('pkcs8', privateKey), 'PRIVATE KEY')
  return { cert: `${certificate.toString('pem')}\n`, key: `${key}\n` }
}

async function importKey(pem: string): Promise<webcrypto.CryptoKey> {
  const { PemConverter } = await loadX509()
  return subtle.importKey('pkcs8', PemConverter.decodeFirst(pem), keyAlgorithm, false, ['sign'])
}

type X509 = typeof import('@peculiar/x509')

/**
 * Loads the library that makes certificates, which takes longer than everything else at start and is seldom needed. Its
 * decorators want the metadata polyfill to be there before.
 */
export async function loadX509(): Promise<X509> {
  await import('reflect-metadata')
  return import('@peculiar/x509')
}

/** A subject name of a certificate. */
interface SubjectName {
  type: 'dns' | 'ip'
  value: string
}

/** The extension of X.509 that limits an authority (RFC 5280 section 4.2.1.10). */
const NAME_CONSTRAINTS = '2.5.29.30'

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
function constraintsFor(names: readonly SubjectName[]): Uint8Array<ArrayBuffer> {
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

/** Returns the names and addresses that the constraints, in DER, permit. */
function permittedBy(constraints: Uint8Array): DerElement[] {
  const [outer] = elementsOf(Buffer.from(constraints))
  const [permitted] = outer === undefined ? [] : elementsOf(outer.content)
  return (permitted === undefined ? [] : elementsOf(permitted.content)).flatMap(({ content }) =>
    elementsOf(content),
  )
}

function isPermitted(bases: readonly DerElement[], { type, value }: SubjectName): boolean {
  return bases
    .filter(({ tag }) => tag === TAG[type])
    .some(({ content }) =>
      type === 'dns' ? isBelow(value, content.toString('latin1')) : isWithin(value, content),
    )
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

interface DerElement {
  tag: number
  content: Buffer
}

function elementsOf(bytes: Buffer): DerElement[] {
  const found: DerElement[] = []
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
