import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { type Relay, createRelay } from './forward.ts'
import type { Target } from './target.ts'
import { newToken } from '../../ids.ts'
import { takeLease, type KeptLease } from './lease.ts'

/** A target with the URL under which its deliveries arrive here. */
export interface Route {
  url: string
  target: Target
}

/** Everything of a `listen` but its endpoints: what stands in for the receivers, and the note in the data directory. */
export interface Stand {
  routes: readonly Route[]
  lease: KeptLease
  close(): Promise<void>
}

interface StandParts {
  directory: string
  /** Origin of the service. */
  service: string
  targets: readonly Target[]
  /** The local one, which the service trusts. */
  authority: {
    certificatePem: string
    issue(hosts: readonly string[]): Promise<{ cert: string; key: string }>
  }
  insecure: boolean
}

/** Opens the door for deliveries, and says so in the data directory before anything is registered. */
export async function openStand({
  directory,
  service,
  targets,
  authority,
  insecure,
}: StandParts): Promise<Stand> {
  const token = newToken()
  const relay = createRelay({ ca: authority.certificatePem, insecure })
  const tls = await authority.issue(['localhost', '127.0.0.1'])
  const door = await openServer({ tls, targets, relay, token })
  const { routes } = door
  const lease = await takeLease(directory, token, { service, urls: routes.map(({ url }) => url) })
  return {
    routes,
    lease,
    async close() {
      await door.close()
      await relay.close()
    },
  }
}

/** What stands in for the receivers, on HTTPS as the service asks for. */
interface Door {
  routes: readonly Route[]
  close(): Promise<void>
}

interface DoorParts {
  tls: { cert: string; key: string }
  targets: readonly Target[]
  relay: Pick<Relay, 'pass'>
  /** In the paths, so that nobody else on this machine, such as a web page, can send anything on to the targets. */
  token: string
}

/** Opens an HTTPS server on a free port of 127.0.0.1, with a path for each target. */
async function openServer({ tls, targets, relay, token }: DoorParts): Promise<Door> {
  const byPath = new Map(targets.map((target, index) => [`/${token}/${index + 1}`, target]))
  const server = createServer(tls, (incoming, answer) => {
    const target = byPath.get(incoming.url ?? '')
    if (target !== undefined) return void relay.pass(incoming, answer, target)
    answer.writeHead(404).end('tabwire listen passes on only what its own service sends.\n')
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
