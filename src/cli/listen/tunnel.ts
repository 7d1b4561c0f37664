import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { type Forwarder, createForwarder } from './forward.ts'
import type { Target } from './target.ts'
import { newToken } from '../../ids.ts'
import { takeLease, type KeptLease } from './lease.ts'

/** A target with the local URL that receives its deliveries. */
export interface Route {
  url: string
  target: Target
}

/** The HTTPS server of a `listen`, and its lease in the data directory. */
export interface Tunnel {
  routes: readonly Route[]
  lease: KeptLease
  close(): Promise<void>
}

interface TunnelOptions {
  directory: string
  /** Origin of the service. */
  service: string
  targets: readonly Target[]
  /** The local authority, which the service trusts. */
  authority: {
    certificatePem: string
    issue(hosts: readonly string[]): Promise<{ cert: string; key: string }>
  }
  insecure: boolean
}

/** Opens the server for deliveries, and writes the lease before anything is registered. */
export async function openTunnel({
  directory,
  service,
  targets,
  authority,
  insecure,
}: TunnelOptions): Promise<Tunnel> {
  const token = newToken()
  const forwarder = createForwarder({ ca: authority.certificatePem, insecure })
  const tls = await authority.issue(['localhost', '127.0.0.1'])
  const server = await openServer({ tls, targets, forwarder, token })
  const { routes } = server
  const lease = await takeLease(directory, token, { service, urls: routes.map(({ url }) => url) })
  return {
    routes,
    lease,
    async close() {
      await server.close()
      await forwarder.close()
    },
  }
}

/** Server that receives deliveries for the targets, on HTTPS as the service requires. */
interface ForwardServer {
  routes: readonly Route[]
  close(): Promise<void>
}

interface ServerOptions {
  tls: { cert: string; key: string }
  targets: readonly Target[]
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
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}
