import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { ApiError } from '../../client.ts'
import { CommandError } from '../errors.ts'
import { runsHere } from '../running-service.ts'
import { type Forwarder, createForwarder } from './forward.ts'
import { listenerUrl } from '../../model/offer.ts'
import { createListener, type Listener } from './listener.ts'
import type { ForwardRoute, ForwardTarget } from './target.ts'
import { newToken } from '../../ids.ts'
import { takeLease, type KeptLease } from './lease.ts'

/** Brings deliveries to a running `listen`, which has a lease in the data directory. */
export interface Tunnel {
  routes: readonly ForwardRoute[]
  lease: KeptLease
  /** Present when the service offers the attempts over the live stream. */
  listener?: Listener
  /** Takes a certificate of the current local authority: another start may have created another one. */
  renew?(): Promise<void>
  close(): Promise<void>
}

interface ListenerOptions {
  directory: string
  /** Origin of the service. */
  service: string
  targets: readonly ForwardTarget[]
  /** PEM of the local authority, if there is one. */
  ca: string | undefined
  insecure: boolean
}

/** Takes deliveries from the live stream, for a service that cannot reach this machine. Needs no server and no certificate. */
export async function openListener({
  directory,
  service,
  targets,
  ca,
  insecure,
}: ListenerOptions): Promise<Tunnel> {
  const token = newToken()
  // Hosts have no upper-case letters.
  const name = Buffer.from(token, 'base64url').toString('hex')
  const routes = targets.map((target, index) => ({ url: listenerUrl(name, `/${index + 1}`), target }))
  const forwarder = createForwarder({ ca, insecure })
  const lease = await takeLease(directory, token, { service, urls: routes.map(({ url }) => url) })
  return { routes, lease, listener: createListener(name, routes, forwarder), close: forwarder.close }
}

/** Opens a listener if `relay` says so; by default, unless the service runs on this machine and on `directory`. */
export async function openTunnel(
  options: TunnelOptions,
  { openAuthority, readAuthorityCertificate }: Certificates,
  relay?: boolean,
): Promise<Tunnel> {
  const { directory, service } = options
  if (relay ?? !(await runsHere(directory, service)))
    return openListener({ ...options, ca: await readAuthorityCertificate(directory) })
  return openLocalTunnel({ ...options, openAuthority: () => openAuthority(directory) })
}

/** The local authority of a data directory. */
export interface Certificates {
  openAuthority(directory: string): Promise<LocalAuthority>
  readAuthorityCertificate(directory: string): Promise<string | undefined>
}

/** Explains that the service refuses the address of a tunnel; `undefined` for other errors. */
export function explainRefusal(error: unknown): CommandError | undefined {
  const { issues = [] } = (error instanceof ApiError ? error.body : {}) as ValidationBody
  const message = issues.find(({ path }) => path === 'url')?.message
  if (message === undefined) return undefined
  return new CommandError(
    'tunnel_refused',
    `The service refuses to send deliveries to this machine: the URL ${message}. To fetch them instead, pass --relay.`,
  )
}

/** Body of a refusal with the code `validation_failed`. */
interface ValidationBody {
  issues?: readonly { path: string; message: string }[]
}

type TunnelOptions = Omit<ListenerOptions, 'ca'>

interface LocalTunnelOptions extends TunnelOptions {
  /** Opens the local authority, which the service trusts. */
  openAuthority: () => Promise<LocalAuthority>
}

interface LocalAuthority {
  certificatePem: string
  issue(hosts: readonly string[]): Promise<{ cert: string; key: string }>
}

/** Hosts of the tunnel. */
const HOSTS = ['localhost', '127.0.0.1']

/** Opens the server for deliveries, and writes the lease before anything is registered. */
async function openLocalTunnel({
  directory,
  service,
  targets,
  openAuthority,
  insecure,
}: LocalTunnelOptions): Promise<Tunnel> {
  const token = newToken()
  let authority = await openAuthority()
  const forwarder = createForwarder({ ca: authority.certificatePem, insecure })
  const tls = await authority.issue(HOSTS)
  const server = await openServer({ tls, targets, forwarder, token })
  const { routes } = server
  const lease = await takeLease(directory, token, { service, urls: routes.map(({ url }) => url) })
  return {
    routes,
    lease,
    async renew() {
      const current = await openAuthority()
      if (current.certificatePem === authority.certificatePem) return
      authority = current
      server.setCertificate(await current.issue(HOSTS))
    },
    async close() {
      await server.close()
      await forwarder.close()
    },
  }
}

/** Server that receives deliveries for the targets, on HTTPS as the service requires. */
interface ForwardServer {
  routes: readonly ForwardRoute[]
  setCertificate(tls: { cert: string; key: string }): void
  close(): Promise<void>
}

interface ServerOptions {
  tls: { cert: string; key: string }
  targets: readonly ForwardTarget[]
  forwarder: Pick<Forwarder, 'pass'>
  /**
   * Part of the paths, so that no other program on this machine, such as a web page, can send requests to the
   * targets.
   */
  token: string
}

/** Opens an HTTPS server on a free port of 127.0.0.1, with a path for each target. */
async function openServer({ tls, targets, forwarder, token }: ServerOptions): Promise<ForwardServer> {
  const byPath = new Map(targets.map((target, index) => [`/${token}/${index + 1}`, target]))
  const server = createServer(tls, (incoming, answer) => {
    const target = byPath.get(incoming.url ?? '')
    if (target !== undefined) return void forwarder.pass(incoming, answer, target)
    answer.writeHead(404).end('tabwire listen forwards only deliveries of its own service.\n')
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(0, '127.0.0.1', resolve)
  })
  const { port } = server.address() as AddressInfo
  return {
    routes: [...byPath].map(([path, target]) => ({ url: `https://127.0.0.1:${port}${path}`, target })),
    setCertificate: (changed) => server.setSecureContext(changed),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}
