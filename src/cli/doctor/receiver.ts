import { lookup } from 'node:dns/promises'
import { connect as connectPlain, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import { Agent, request } from 'undici'
import { bareHost, isLoopbackName, portOf } from '../../model/url.ts'
import { trustedAuthorities } from '../../certificates/trusted.ts'
import { suggestion } from '../suggestion.ts'
import { localAuthority } from './authority.ts'
import { finding, type Environment, type DoctorFinding } from './finding.ts'

/** Time limit of an attempt (specification section 8), in milliseconds. */
const ATTEMPT_TIMEOUT_MS = 10_000

/**
 * Checks each step of a delivery to a receiver: name, connection, certificate, answer. Stops at the first that fails.
 */
export async function* diagnoseReceiver({
  receiver,
  ...around
}: Environment): AsyncGenerator<DoctorFinding, void> {
  if (receiver === undefined) return
  const host = bareHost(receiver)
  const port = portOf(receiver)
  const addresses = await lookup(host, { all: true }).catch(codeOf)
  if (typeof addresses === 'string') {
    yield finding('receiver name', 'bad', `Cannot resolve ${host} (${addresses}).`, NAME)
    return
  }
  yield finding(
    'receiver name',
    'good',
    `${host} resolves to ${addresses.map(({ address }) => address).join(', ')}.`,
  )
  const reason = await around.whyAddressRefused(receiver.href)
  if (reason !== undefined) {
    yield finding('receiver address', 'bad', `The receiver cannot be registered: its URL ${reason}.`)
    return
  }
  const refused = await connectionFailure(connectPlain({ host, port }), 'connect')
  if (refused !== undefined) {
    yield finding(
      'receiver connection',
      'bad',
      `Cannot connect to ${host} at port ${port} (${refused}).`,
      connection(refused),
    )
    return
  }
  yield finding('receiver connection', 'good', `${host} accepts connections at port ${port}.`)
  const ca = [...trustedAuthorities(), ...around.ca, ...(await localAuthority(around.directory))]
  const trust = { ca, rejectUnauthorized: !around.insecure }
  const encryption =
    receiver.protocol === 'http:'
      ? plainHttp(host.replace(/\.$/, ''), around.plainHttpHosts)
      : await checkCertificate(host, port, trust)
  yield encryption
  if (encryption.level !== 'bad') yield* askReceiver(receiver, trust, around.now)
}

/** The certificates that the service would accept. */
interface Trust {
  ca: string[]
  rejectUnauthorized: boolean
}

async function checkCertificate(host: string, port: number, trust: Trust): Promise<DoctorFinding> {
  const check = 'receiver certificate'
  const servername = /^[\d.]+$|:/.test(host) ? '' : host
  const failed = await connectionFailure(connectTls({ host, port, servername, ...trust }), 'secureConnect')
  if (failed !== undefined) return finding(check, 'bad', ...certificateAdvice(failed, host))
  return trust.rejectUnauthorized
    ? finding(check, 'good', `The receiver's certificate is trusted and valid for ${host}.`)
    : finding(check, 'note', "The receiver's certificate is not checked, because of --insecure.")
}

const NAME = 'Correct the host name or the DNS settings. For this machine, use localhost.'

function connection(code: string): string {
  if (code === 'ECONNREFUSED') return 'Start the receiver, or correct the port.'
  return 'Check for a firewall, or a receiver that listens on another address.'
}

function plainHttp(host: string, hosts: readonly string[]): DoctorFinding {
  if (hosts.some((one) => one.toLowerCase() === host))
    return finding(
      'receiver certificate',
      'note',
      `The receiver uses plain HTTP, which --allow-http-host ${host} allows.`,
    )
  if (isLoopbackName(host))
    return finding(
      'receiver certificate',
      'note',
      'The receiver uses plain HTTP, which the real service does not accept.',
      HTTP_HERE,
    )
  return finding(
    'receiver certificate',
    'bad',
    'The receiver uses plain HTTP on another machine, so it cannot be registered.',
    HTTPS,
  )
}

const HTTP_HERE =
  'Forward deliveries with `tabwire listen --forward-to`, or start with --allow-http-loopback.'
const HTTPS = 'Give it a certificate, and register an https: URL.'

function codeOf(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException
  return code ?? message
}

/** Resolves with why a connection failed; `undefined` once the event fires. Closes the connection in any case. */
function connectionFailure(socket: Socket, event: 'connect' | 'secureConnect'): Promise<string | undefined> {
  return new Promise<string | undefined>((resolve) => {
    socket.setTimeout(ATTEMPT_TIMEOUT_MS, () => resolve('timeout'))
    socket.once(event, () => resolve(undefined)).once('error', (error) => resolve(codeOf(error)))
  }).finally(() => socket.destroy())
}

/** Half of a receiver's default tolerance (specification section 5), in milliseconds. */
const TOLERANCE_MS = 150_000

/** Sends a HEAD request, which changes nothing there, and checks the status and the date of the answer. */
async function* askReceiver(url: URL, connect: Trust, now: Date): AsyncGenerator<DoctorFinding, void> {
  const dispatcher = new Agent({ connect })
  const asked = { method: 'HEAD', dispatcher, signal: AbortSignal.timeout(ATTEMPT_TIMEOUT_MS) } as const
  try {
    const { statusCode, headers } = await request(url, asked)
    yield statusFinding(statusCode, String(headers.location ?? ''))
    if (typeof headers.date === 'string') yield* clockFinding(new Date(headers.date), now)
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    const why = `The receiver accepts the connection but does not answer (${code ?? message}).`
    yield { check: 'receiver answer', level: 'bad', message: why, advice: 'Check its log for a crash.' }
  } finally {
    await dispatcher.close()
  }
}

function statusFinding(status: number, location: string): DoctorFinding {
  const check = 'receiver answer'
  if (status < 300 || status >= 400)
    return {
      check,
      level: 'good',
      message: `The receiver answers HEAD requests with ${status}. Deliveries are POST requests.`,
    }
  const message = `The receiver redirects (${status}) to ${location || 'no location'}. Deliveries do not follow redirects.`
  return { check, level: 'bad', message, advice: 'Register the target of the redirect.' }
}

function clockFinding(theirs: Date, ours: Date): DoctorFinding[] {
  const apart = Math.abs(theirs.getTime() - ours.getTime())
  const check = 'receiver clock'
  if (Number.isNaN(apart)) return []
  if (apart < TOLERANCE_MS)
    return [{ check, level: 'good', message: 'The clocks of the receiver and of this machine agree.' }]
  const message = `The clocks of the receiver and of this machine differ by ${Math.round(apart / 1000)} s. Beyond 300 s, signatures are refused.`
  return [{ check, level: 'note', message, advice: 'Set both clocks by NTP.' }]
}

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
  CERT_NOT_YET_VALID: ["The receiver's certificate is not valid yet.", 'Check the clocks of both machines.'],
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
