import { suggestion } from '../suggestion.ts'

/** Explanation and advice for each TLS error code of Node and OpenSSL. */
const reasons: Readonly<Record<string, readonly [why: string, advice: string]>> = {
  ...same(
    [
      'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
      'SELF_SIGNED_CERT_IN_CHAIN',
      'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
      'UNABLE_TO_GET_ISSUER_CERT',
    ],
    'Its certificate is of an authority that is not trusted, or the chain is not sent whole.',
    'Pass the authority: --cacert ca.pem, here and to tabwire start. Or take a certificate by CERTS.',
  ),
  DEPTH_ZERO_SELF_SIGNED_CERT: [
    'Its certificate is self-signed.',
    'Take one that is trusted by CERTS; or pass it: --cacert receiver.pem.',
  ],
  ERR_TLS_CERT_ALTNAME_INVALID: [
    'Its certificate is for another host than HOST.',
    'Issue one for the name that is called: CERTS; or call it by the name that it has.',
  ],
  CERT_HAS_EXPIRED: ['Its certificate has expired.', 'Renew it; for a receiver of yours: CERTS.'],
  CERT_NOT_YET_VALID: [
    'Its certificate is not valid yet.',
    'Compare the clocks of both machines, or wait until it is.',
  ],
  ...same(
    ['EPROTO', 'ERR_SSL_WRONG_VERSION_NUMBER', 'ERR_SSL_PACKET_LENGTH_TOO_LONG', 'ECONNRESET'],
    'It does not speak TLS at this port.',
    'It may be on plain HTTP: check it as http:, and bring deliveries to it with tabwire listen --forward-to.',
  ),
  timeout: [
    'It does not answer the TLS handshake.',
    'Look whether it is on TLS at all, and not busy or stopped.',
  ],
}

/** Returns the message and the advice for a TLS handshake that failed with this code. */
export function certificateAdvice(code: string, host: string): [message: string, advice: string] {
  const [why, advice] = reasons[code] ?? [
    'The TLS handshake with it fails.',
    'Look into its log, and whether it takes TLS 1.2 or newer.',
  ]
  const command = suggestion('certs create', [host])
  const named = (text: string) => text.replaceAll('HOST', () => host).replaceAll('CERTS', () => command)
  return [`${named(why).replace(/\.$/, '')} (${code}).`, named(advice)]
}

function same(codes: readonly string[], why: string, advice: string): typeof reasons {
  return Object.fromEntries(codes.map((code) => [code, [why, advice]]))
}
