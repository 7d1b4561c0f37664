import { connect as connectTcp, isIP, type Socket } from 'node:net'
import { connect as connectTls, type SecureContext, type TLSSocket } from 'node:tls'
import type { buildConnector } from 'undici'
import type { DestinationPolicy } from './destination.ts'
import { destinationOf } from './destination-url.ts'

interface ConnectSettings {
  policy: Pick<DestinationPolicy, 'lookup'>
  /** What is trusted; asked for at the first TLS connection, since making it takes a while. */
  secureContext: () => SecureContext
  insecure: boolean
  /** A connection that is not ready for a request by then is given up. */
  timeoutMs: number
}

/** A connection that was not ready in time. */
export class ConnectTimeout extends Error {
  readonly code = 'TABWIRE_TIMEOUT'
}

/** What a TLS error carries beside its code: whom the certificate that was not accepted names, and who signed it. */
export interface CertificateError extends NodeJS.ErrnoException {
  cert?: { subjectaltname?: string }
  issuer?: string
}

/**
 * Opens the connections of the sender. undici's own connector would do but for three things: the lookup knows the port,
 * an error names the issuer of the certificate, and `destroy` also ends connections that hang before they are ready.
 */
export function createConnector(settings: ConnectSettings) {
  const sockets = new Set<Socket>()
  const connect: buildConnector.connector = (target, callback) => {
    const socket = open(target, settings)
    sockets.add(socket)
    socket.setNoDelay(true).once('close', () => sockets.delete(socket))
    whenReady(
      socket,
      target.protocol === 'https:' ? 'secureConnect' : 'connect',
      settings.timeoutMs,
      callback,
    )
  }
  const destroy = () => {
    for (const socket of sockets) socket.destroy()
  }
  return { connect, destroy }
}

function open(target: buildConnector.Options, settings: ConnectSettings): Socket {
  const { hostname, port } = destinationOf(new URL(`${target.protocol}//${target.host ?? target.hostname}`))
  const address = { host: hostname, port, lookup: settings.policy.lookup(port) }
  if (target.protocol === 'http:') return connectTcp(address)
  return namingIssuers(
    connectTls({
      ...address,
      // TLS has no server names for addresses.
      ...(isIP(hostname) === 0 && { servername: hostname }),
      secureContext: settings.secureContext(),
      rejectUnauthorized: !settings.insecure,
      ALPNProtocols: ['http/1.1'],
    }),
  )
}

/** A refused certificate is out of reach by the time its error is reported, so it is looked at before Node judges it. */
function namingIssuers(socket: TLSSocket): TLSSocket {
  let issuer: string | undefined
  socket.prependOnceListener('secure', () => {
    const { issuer: name } = socket.getPeerCertificate()
    issuer = firstOf(name?.CN) ?? firstOf(name?.O)
  })
  return socket.prependOnceListener('error', (error: CertificateError) => {
    if (issuer !== undefined) error.issuer = issuer
  })
}

function whenReady(
  socket: Socket,
  ready: 'connect' | 'secureConnect',
  timeoutMs: number,
  callback: buildConnector.Callback,
): void {
  const timer = setTimeout(() => socket.destroy(new ConnectTimeout('not connected in time')), timeoutMs)
  const fail = (error: Error) => settle(() => callback(error, null))
  const close = () => fail(new Error('closed before it was ready'))
  const settle = (report: () => void) => {
    clearTimeout(timer)
    socket.off('error', fail).off('close', close)
    // Later errors are undici's, but one may come between a failure and the close.
    socket.on('error', () => undefined)
    report()
  }
  socket
    .once('error', fail)
    .once('close', close)
    .once(ready, () => settle(() => callback(null, socket)))
}

/** A name may have several parts of one kind, which the types of Node do not always tell. */
function firstOf(part: string | string[] | undefined): string | undefined {
  return Array.isArray(part) ? part[0] : part
}
