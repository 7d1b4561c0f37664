import { loadX509 } from '../../src/certificates/issue.ts'

/** Returns a certificate that is its own authority, as most tutorials create, and its key; both in PEM. */
export async function selfSigned(
  commonName: string,
  dnsNames: readonly string[] = [],
): Promise<{ cert: string; key: string }> {
  const { PemConverter, SubjectAlternativeNameExtension, X509CertificateGenerator } = await loadX509()
  const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' }
  const keys = await crypto.subtle.generateKey(algorithm, true, ['sign', 'verify'])
  const names = dnsNames.map((value) => ({ type: 'dns' as const, value }))
  const extensions = names.length === 0 ? [] : [new SubjectAlternativeNameExtension(names)]
  const cert = await X509CertificateGenerator.createSelfSigned({ name: `CN=${commonName}`, keys, extensions })
  const key = PemConverter.encode(await crypto.subtle.exportKey('pkcs8', keys.privateKey), 'PRIVATE KEY')
  return { cert: cert.toString('pem'), key }
}
