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
    "The receiver's certificate is not trusted: its authority is unknown, or the chain is incomplete.",
    'Pass --cacert ca.pem here and to `tabwire start`, or issue a certificate with: CERTS',
  ),
  DEPTH_ZERO_SELF_SIGNED_CERT: [
    "The receiver's certificate is self-signed.",
    'Pass it with --cacert receiver.pem, or issue a trusted certificate with: CERTS',
  ],
  ERR_TLS_CERT_ALTNAME_INVALID: [
    "The receiver's certificate is not for HOST.",
    'Use a host name of the certificate, or issue one for this host with: CERTS',
  ],
  CERT_HAS_EXPIRED: ["The receiver's certificate has expired.", 'Renew it. For a local receiver, run: CERTS'],
  CERT_NOT_YET_VALID: [
    "The receiver's certificate is not valid yet.",
    'Compare the clocks of both machines.',
  ],
  ...same(
    ['EPROTO', 'ERR_SSL_WRONG_VERSION_NUMBER', 'ERR_SSL_PACKET_LENGTH_TOO_LONG', 'ECONNRESET'],
    'The receiver does not use TLS at this port.',
    'If it uses plain HTTP, check it as http: and forward deliveries with `tabwire listen --forward-to`.',
  ),
  timeout: [
    'The receiver does not answer the TLS handshake.',
    'Check that it uses TLS, and that it is not busy or stopped.',
  ],
}

/** Returns the message and the advice for a TLS handshake that failed with this code. */
export function certificateAdvice(code: string, host: string): [message: string, advice: string] {
  const [why, advice] = reasons[code] ?? [
    'The TLS handshake with the receiver failed.',
    'Check its log, and that it accepts TLS 1.2 or newer.',
  ]
  const command = suggestion('certs create', [host])
  const named = (text: string) => text.replaceAll('HOST', () => host).replaceAll('CERTS', () => command)
  return [`${named(why).replace(/\.$/, '')} (${code}).`, named(advice)]
}

function same(codes: readonly string[], why: string, advice: string): typeof reasons {
  return Object.fromEntries(codes.map((code) => [code, [why, advice]]))
}
