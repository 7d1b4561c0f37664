import { connect as connectTcp, isIP, type Socket } from 'node:net'
import { connect as connectTls, type SecureContext, type TLSSocket } from 'node:tls'
import type { buildConnector } from 'undici'
import { setDeadline } from './deadline.ts'
import type { DestinationPolicy } from '../destination/policy.ts'
import { destinationOf } from '../destination/url.ts'

interface ConnectSettings {
  policy: Pick<DestinationPolicy, 'lookup'>
  /** What is trusted; asked for at each TLS connection. */
  secureContext: () => Promise<SecureContext>
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
  let destroyed = false
  const keep = (socket: Socket) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
    if (destroyed) socket.destroy()
    return socket
  }
  const open = async (target: buildConnector.Options) => {
    if (target.protocol === 'http:')
      return untilReady(keep(connectTcp(addressOf(target, settings))), 'connect', settings.timeoutMs)
    const secureContext = await settings.secureContext()
    return untilReady(keep(openTls(target, settings, secureContext)), 'secureConnect', settings.timeoutMs)
  }
  const connect: buildConnector.connector = (target, callback) => {
    open(target).then(
      (socket) => callback(null, socket),
      (error: unknown) => callback(error as Error, null),
    )
  }
  const destroy = () => {
    destroyed = true
    for (const socket of sockets) socket.destroy()
  }
  return { connect, destroy }
}

function addressOf(target: buildConnector.Options, { policy }: ConnectSettings) {
  const { hostname, port } = destinationOf(new URL(`${target.protocol}//${target.host ?? target.hostname}`))
  return { host: hostname, port, lookup: policy.lookup(port), noDelay: true }
}

function openTls(
  target: buildConnector.Options,
  settings: ConnectSettings,
  secureContext: SecureContext,
): TLSSocket {
  const address = addressOf(target, settings)
  const socket = connectTls({
    ...address,
    // TLS has no server names for addresses.
    ...(isIP(address.host) === 0 && { servername: address.host }),
    secureContext,
    rejectUnauthorized: !settings.insecure,
    ALPNProtocols: ['http/1.1'],
  })
  socket.setNoDelay(true)
  return settings.insecure ? socket : namingIssuers(socket)
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

function untilReady(socket: Socket, ready: 'connect' | 'secureConnect', timeoutMs: number): Promise<Socket> {
  // Later errors are undici's to handle, but one may come when it does not listen yet, or no longer.
  socket.on('error', () => undefined)
  return new Promise<Socket>((resolve, reject) => {
    const cancel = setDeadline(() => socket.destroy(new ConnectTimeout('not connected in time')), timeoutMs)
    const closed = () => reject(new Error('The connection was closed before it was ready'))
    socket.once('error', reject).once('close', closed).once('close', cancel)
    socket.once(ready, () => {
      cancel()
      socket.off('error', reject).off('close', closed)
      resolve(socket)
    })
  })
}

/** A name may have several parts of one kind, which the types of Node do not always tell. */
function firstOf(part: string | string[] | undefined): string | undefined {
  return Array.isArray(part) ? part[0] : part
}
