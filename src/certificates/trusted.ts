import { readFileSync } from 'node:fs'
import * as tls from 'node:tls'

/** Certificate bundles of operating systems, for Node before 22.15, which cannot read the system's store. */
const bundleFiles = [
  '/etc/ssl/certs/ca-certificates.crt', // Debian, Ubuntu, Arch, Alpine
  '/etc/pki/tls/certs/ca-bundle.crt', // Fedora, RHEL
  '/etc/ssl/ca-bundle.pem', // openSUSE
  '/etc/ssl/cert.pem', // macOS, FreeBSD
]

/**
 * Returns the certificates, in PEM, of the authorities that this machine trusts: Node's, the system's, and those of
 * `NODE_EXTRA_CA_CERTS`. Deliveries and all commands that check receivers trust the same ones. Reading and parsing them takes
 * tens of milliseconds.
 */
export function trustedAuthorities(): string[] {
  return distinct([...tls.rootCertificates, ...systemCertificates(), ...extraCertificates()])
}

/**
 * Returns a TLS context that trusts these authorities, in PEM, beside those of the machine. Make it once: to parse all
 * authorities for each connection takes longer than the handshake.
 */
export function trustedContext(ca: readonly string[] = []): tls.SecureContext {
  return tls.createSecureContext({ ca: [...trustedAuthorities(), ...ca] })
}

/** Removes duplicates: Node's and the system's authorities are mostly the same, and parsing is slow. */
function distinct(certificates: readonly string[]): string[] {
  return [...new Map(certificates.map((pem) => [pem.replace(/\s/g, ''), pem])).values()]
}

function systemCertificates(): readonly string[] {
  const { getCACertificates } = tls as { getCACertificates?: (type: 'system') => string[] }
  return (
    getCACertificates?.('system') ?? bundleFiles.map(certificatesIn).find(({ length }) => length > 0) ?? []
  )
}

/** Node ignores this variable for connections with authorities of their own. */
function extraCertificates(): readonly string[] {
  return certificatesIn(process.env.NODE_EXTRA_CA_CERTS ?? '')
}

/** Returns the certificates of a file; none when it cannot be read, as Node does. */
function certificatesIn(file: string): readonly string[] {
  try {
    return (
      readFileSync(file, 'utf8').match(/-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g) ?? []
    )
  } catch {
    return []
  }
}
