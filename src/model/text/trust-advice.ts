/**
 * Returns what to do about a certificate, from the code of a connection error: `untrusted` where the authority is unknown;
 * `undefined` for errors that do not concern the certificate.
 */
export function trustAdvice(code: string | undefined, untrusted: string): string | undefined {
  if (code === undefined) return undefined
  if (code === 'CERT_HAS_EXPIRED') return 'Its certificate has expired. Renew it.'
  if (code === 'CERT_NOT_YET_VALID')
    return 'Its certificate is not valid yet. Compare the clocks of both machines.'
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID')
    return 'Its certificate is for another host. Use a host name of the certificate.'
  return /CERT|SIGNATURE|^UNABLE_TO_|^INVALID_(CA|PURPOSE)$/.test(code) ? untrusted : undefined
}
