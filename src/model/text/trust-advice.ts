/**
 * Returns what to do about a certificate, from the code or the message of a connection error: `untrusted` where the authority
 * is unknown; `undefined` for errors that do not concern the certificate.
 */
export function trustAdvice(error: string, untrusted: string): string | undefined {
  if (/CERT_HAS_EXPIRED|certificate has expired/i.test(error)) return 'Its certificate has expired. Renew it.'
  if (/CERT_NOT_YET_VALID|certificate is not yet valid/i.test(error))
    return 'Its certificate is not valid yet. Compare the clocks of both machines.'
  if (/ALTNAME|altnames/.test(error))
    return 'Its certificate is for another host. Use a host name of the certificate.'
  return /[Cc]ertificate|self.signed|CERT|SIGNATURE/.test(error) ? untrusted : undefined
}
