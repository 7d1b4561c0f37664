import type { AttemptOutcome } from '../../model/delivery.ts'
import { connectionReason, shortened, statusAdvice } from '../../model/text/advice.ts'
import type { CertificateError } from './connector.ts'

/** Why an attempt failed: its `outcome` and `error`. */
export interface Failure {
  outcome: Exclude<AttemptOutcome, 'succeeded'>
  error: string
}

interface FailedSending {
  host: string
  timeoutMs: number
  code: string
  error: CertificateError
}

interface Row {
  codes: RegExp
  /** Further condition beside the code. */
  applies?: (failed: FailedSending) => boolean
  outcome: Failure['outcome']
  words: (failed: FailedSending) => string
}

const UNTRUSTED = /^(UNABLE_TO_.*|SELF_SIGNED_CERT_IN_CHAIN|CERT_UNTRUSTED|CERT_CHAIN_TOO_LONG|INVALID_CA)$/
const CACERT = 'pass --cacert FILE (cacert in the library) with the certificate of its authority'
const CERTS = 'or create a trusted one with `tabwire certs create`'

/** Failures by error code; the first matching row counts. */
const rows: readonly Row[] = [
  {
    codes: /^TABWIRE_ADDRESS_REFUSED$/,
    outcome: 'address_refused',
    words: ({ host, error }) => `Not sent to ${host}: the URL ${error.message}.`,
  },
  {
    codes: /^(TABWIRE_CONNECT_TIMEOUT|ETIMEDOUT|UND_ERR_CONNECT_TIMEOUT)$/,
    outcome: 'timeout',
    words: ({ host, timeoutMs }) =>
      `Could not connect to ${host} within ${timeoutMs / 1000} s. Check host and port, and whether a firewall is in between.`,
  },
  {
    codes: /^(TABWIRE_TIMEOUT|UND_ERR_(HEADERS|BODY)_TIMEOUT)$/,
    outcome: 'timeout',
    words: ({ host, timeoutMs }) =>
      `${host} did not respond within ${timeoutMs / 1000} s. Return 2xx at once and process the event afterwards.`,
  },
  {
    codes: /^ECONNREFUSED$/,
    outcome: 'connection_refused',
    words: ({ host }) =>
      `No server listens at ${host}. Start the receiver, or register the port it listens on.`,
  },
  {
    codes: /^(ECONNRESET|EPIPE|ECONNABORTED|UND_ERR_SOCKET)$/,
    outcome: 'connection_reset',
    words: ({ host }) =>
      `${host} closed the connection without a response. Check the receiver for a crash or a limit.`,
  },
  {
    codes: /^TABWIRE_RECEIVER_FAILED$/,
    outcome: 'connection_reset',
    words: ({ host, error }) => `The in-process receiver of ${host} ${error.message}.`,
  },
  {
    codes: /^(ENOTFOUND|EAI_.*|ENODATA|ESERVFAIL)$/,
    outcome: 'dns_error',
    words: ({ host, code }) =>
      `Could not resolve the name of ${host} (${code}). Check its spelling and the network.`,
  },
  {
    codes: /^ERR_TLS_CERT_ALTNAME_INVALID$/,
    outcome: 'tls_error',
    words: ({ host, error }) =>
      `The certificate of ${host} is for another host: ${shortened(error.cert?.subjectaltname ?? 'no names', MOST_SHOWN)}. Use a certificate for this host.`,
  },
  {
    codes: /^CERT_HAS_EXPIRED$/,
    outcome: 'tls_error',
    words: ({ host }) => `The certificate of ${host} has expired. Renew it.`,
  },
  {
    codes: /^CERT_NOT_YET_VALID$/,
    outcome: 'tls_error',
    words: ({ host }) => `The certificate of ${host} is not valid yet. Check the clocks of both machines.`,
  },
  {
    codes: /^DEPTH_ZERO_SELF_SIGNED_CERT$/,
    outcome: 'tls_error',
    words: ({ host }) =>
      `The certificate of ${host} is self-signed and not trusted. Pass it with --cacert FILE (cacert in the library), ${CERTS}.`,
  },
  {
    codes: UNTRUSTED,
    applies: ({ error }) => error.issuer?.startsWith('Tabwire local authority ') === true,
    outcome: 'tls_error',
    words: ({ host, error }) =>
      `The certificate of ${host} is not trusted: it was issued by ${shortened(error.issuer ?? '', MOST_SHOWN)}, not by the authority in the service's data directory. Run both with the same --data-dir, or start the service with --cacert and that authority's ca.pem.`,
  },
  {
    codes: UNTRUSTED,
    outcome: 'tls_error',
    words: ({ host, error }) =>
      `The certificate of ${host} is not trusted: it was issued by ${shortened(error.issuer ?? 'an unknown authority', MOST_SHOWN)}. Send the whole chain from the receiver, ${CACERT}, ${CERTS}.`,
  },
  {
    codes: /^(EPROTO|ERR_SSL_WRONG_VERSION_NUMBER|ERR_SSL_PACKET_LENGTH_TOO_LONG)$/,
    outcome: 'tls_error',
    words: ({ host, code }) =>
      `${host} does not speak a supported TLS version (${code}). If the receiver uses plain HTTP, use \`tabwire listen --forward-to\`.`,
  },
  {
    codes: /^(ERR_SSL_.*|ERR_TLS_.*|(ERROR_IN_)?CERT_.*|PATH_LENGTH_EXCEEDED|INVALID_PURPOSE|UNSPECIFIED)$/,
    outcome: 'tls_error',
    words: ({ host, code, error }) =>
      `The TLS connection to ${host} failed: ${connectionReason(error)} (${code}). Check the receiver's TLS settings.`,
  },
  {
    codes: /^(HPE_.*|HTTPParserError)$/,
    outcome: 'network_error',
    words: ({ host, error, code }) =>
      `The response of ${host} is not HTTP/1.1: ${error.message} (${code}). Check which server listens on that port.`,
  },
  {
    // The parser asserts that a status is at least 100.
    codes: /^ERR_ASSERTION$/,
    outcome: 'network_error',
    words: ({ host }) =>
      `The response of ${host} is not valid HTTP, such as a status below 100. Check which server listens on that port.`,
  },
  {
    // The body is read after the status has decided the attempt, so the headers contradict each other.
    codes: /^UND_ERR_RES_CONTENT_LENGTH_MISMATCH$/,
    outcome: 'network_error',
    words: ({ host }) =>
      `The response of ${host} has contradictory or invalid headers for its length. Send one Content-Length, or Transfer-Encoding: chunked.`,
  },
  {
    codes: /^TABWIRE_INFORMATIONAL$/,
    outcome: 'network_error',
    words: ({ host, error }) => `${host} did not respond: ${error.message}`,
  },
  {
    codes: /^UND_ERR_HEADERS_OVERFLOW$/,
    outcome: 'network_error',
    words: ({ host }) =>
      `The response of ${host} has more than 16 KiB of headers. Send fewer or shorter headers.`,
  },
  {
    codes: /^(ENETUNREACH|EHOSTUNREACH|ENETDOWN|EHOSTDOWN|EADDRNOTAVAIL)$/,
    outcome: 'network_error',
    words: ({ host, code }) => `${host} is unreachable (${code}). Check the network.`,
  },
]

/** Explains an error of sending: what went wrong and how to fix it. `host` includes the port. */
export function explainFailure(thrown: unknown, host: string, timeoutMs: number): Failure {
  const error: CertificateError = thrown instanceof Error ? thrown : new Error(String(thrown))
  // Not all errors of undici's parser have a code; all have a name.
  const code = typeof error.code === 'string' ? error.code : error.name
  const failed = { host, timeoutMs, code, error }
  const row = rows.find(({ codes, applies }) => codes.test(code) && (applies?.(failed) ?? true))
  if (row === undefined)
    return {
      outcome: 'network_error',
      error: `Sending to ${host} failed: ${error.message} (${code}).`,
    }
  return { outcome: row.outcome, error: row.words(failed) }
}

/** Explains a response other than 2xx. */
export function explainStatus(status: number, location: string | undefined): Failure {
  const advice = statusAdvice(status)
  const error =
    status >= 300 && status < 400 && location !== undefined
      ? `The receiver redirected (${status}) to ${shortened(location, MOST_SHOWN)}. Redirects are not followed. Use that URL instead.`
      : `The receiver returned ${status}. Only 2xx counts as delivered.${advice === undefined ? '' : ` ${advice}`}`
  return { outcome: 'bad_status', error }
}

/** Characters of a text of the receiver in an error: its certificate may have hundreds of names. */
export const MOST_SHOWN = 500
