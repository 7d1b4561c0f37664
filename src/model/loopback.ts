/** Returns the host of a URL without the brackets that it puts around IPv6 addresses. */
export function bareHost({ hostname }: Pick<URL, 'hostname'>): string {
  return hostname.replace(/^\[|\]$/g, '')
}

/** Returns true when a host name, without port and brackets, always means this machine (RFC 6761). */
export function isLoopbackName(name: string): boolean {
  return (
    name === 'localhost' || name.endsWith('.localhost') || /^127(\.\d{1,3}){3}$/.test(name) || name === '::1'
  )
}

/** Returns true when only this machine can reach a service that listens on this host. */
export function isLoopbackBinding(host: string): boolean {
  return host === 'localhost' || host === '::1' || host.startsWith('127.')
}

/**
 * Returns what to do about a certificate, from the code or the message of a connection error: `untrusted` where the authority
 * is unknown; `undefined` for errors that do not concern the certificate.
 */
export function certificateAdvice(error: string, untrusted: string): string | undefined {
  if (/CERT_HAS_EXPIRED|certificate has expired/i.test(error)) return 'Its certificate has expired. Renew it.'
  if (/CERT_NOT_YET_VALID|certificate is not yet valid/i.test(error))
    return 'Its certificate is not valid yet. Compare the clocks of both machines.'
  if (/ALTNAME|altnames/.test(error))
    return 'Its certificate is for another host. Use a host name of the certificate.'
  return /[Cc]ertificate|self.signed|CERT|SIGNATURE/.test(error) ? untrusted : undefined
}
