import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import type { Relay } from './relay.ts'
import type { Target } from './target.ts'

/** A target with the URL under which its deliveries arrive here. */
export interface Route {
  url: string
  target: Target
}

/** What stands in for the receivers, on HTTPS as the service asks for. */
export interface Door {
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
export async function openServer({ tls, targets, relay, token }: DoorParts): Promise<Door> {
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
