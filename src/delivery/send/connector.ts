import { connect as connectTcp, isIP, type Socket } from 'node:net'
import { connect as connectTls, type SecureContext, type TLSSocket } from 'node:tls'
import type { buildConnector } from 'undici'
import { ConnectTimeout, setDeadline } from './http-exchange.ts'
import type { DestinationPolicy } from '../destination/policy.ts'
import { destinationOf } from '../destination/url.ts'

interface ConnectSettings {
  policy: Pick<DestinationPolicy, 'lookup'>
  /** Called for each TLS connection, since the trusted authorities may change. */
  secureContext: () => Promise<SecureContext>
  insecure: boolean
  /** Milliseconds until a connection must be ready for a request. */
  timeoutMs: number
}

/** A TLS error with the hosts and the issuer of the rejected certificate. */
export interface CertificateError extends NodeJS.ErrnoException {
  /** OpenSSL's reason, without the place in its source that the message has. */
  reason?: string
  cert?: { subjectaltname?: string }
  issuer?: string
}

/**
 * Opens the connections of the sender. It differs from undici's connector in three ways: the lookup knows the port, TLS
 * errors name the certificate's issuer, and `destroy` also ends connections that are not ready yet.
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
    // TLS server names must not be IP addresses.
    ...(isIP(address.host) === 0 && { servername: address.host }),
    secureContext,
    rejectUnauthorized: !settings.insecure,
    ALPNProtocols: ['http/1.1'],
  })
  socket.setNoDelay(true)
  return settings.insecure ? socket : namingIssuers(socket)
}

/** Adds the issuer to TLS errors. Reads the certificate before Node verifies it, because later it is gone. */
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
  // undici handles later errors, but an error may come while it has no listener.
  socket.on('error', () => {})
  return new Promise<Socket>((resolve, reject) => {
    const cancel = setDeadline(() => socket.destroy(new ConnectTimeout()), timeoutMs)
    const closed = () => reject(new Error('The connection was closed before it was ready'))
    socket.once('error', reject).once('close', closed).once('close', cancel)
    socket.once(ready, () => {
      cancel()
      socket.off('error', reject).off('close', closed)
      resolve(socket)
    })
  })
}

/** Returns the first value of a name part, which may be a list although Node's types deny it. */
function firstOf(part: string | string[] | undefined): string | undefined {
  return Array.isArray(part) ? part[0] : part
}
