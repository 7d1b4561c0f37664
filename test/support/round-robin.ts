import { once } from 'node:events'
import { createServer, request, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A proxy that deals requests to instances in turn, as a load balancer does. */
export interface RoundRobin {
  url: string
  /** Sends no further request to an instance; those under way end. */
  leave(url: string): void
  /** Sends requests to an instance, too. */
  join(url: string): void
  close(): Promise<void>
}

interface RoundRobinOptions {
  /** Milliseconds between two requests for `/_sim/ready` of each instance. One that is not ready is left out. */
  readyEveryMs?: number
}

/** Passes `Host` on as it came; instances must allow it. A request that could not be sent goes to the next instance. */
export async function startRoundRobin(
  urls: readonly string[],
  { readyEveryMs }: RoundRobinOptions = {},
): Promise<RoundRobin> {
  const instances = [...urls]
  const unready = new Set<string>()
  let next = 0
  const choose = () => {
    const ready = instances.filter((url) => !unready.has(url))
    return ready[next++ % ready.length]
  }
  const pass = (incoming: IncomingMessage, outgoing: ServerResponse, tries: number): void => {
    const target = choose()
    if (target === undefined) return void outgoing.writeHead(502).end()
    const { hostname, port } = new URL(target)
    const { method, url: path, rawHeaders } = incoming
    const passed = request({ hostname, port, method, path, headers: rawHeaders, agent: false }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.rawHeaders)
      answer.pipe(outgoing)
      answer.on('error', () => outgoing.destroy())
    })
    passed.once('socket', (socket) => socket.once('connect', () => incoming.pipe(passed)))
    passed.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'ECONNREFUSED' || tries === 0) return void outgoing.destroy()
      pass(incoming, outgoing, tries - 1)
    })
    outgoing.on('close', () => passed.destroy())
  }
  const server = createServer((incoming, outgoing) => pass(incoming, outgoing, instances.length))
  const look = async () => {
    for (const url of instances) {
      const { ok } = await fetch(`${url}/_sim/ready`).catch(() => ({ ok: false }))
      if (ok) unready.delete(url)
      else unready.add(url)
    }
  }
  const looking = readyEveryMs === undefined ? undefined : setInterval(() => void look(), readyEveryMs)
  // Clients read the instances' Keep-Alive of 65 s, and would send on a connection that Node closes after 5 s.
  server.keepAliveTimeout = 70_000
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    leave(url) {
      const at = instances.indexOf(url)
      if (at !== -1) instances.splice(at, 1)
      unready.delete(url)
    },
    join: (url) => void instances.push(url),
    async close() {
      clearInterval(looking)
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}
