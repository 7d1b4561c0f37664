import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

interface Connection {
  socket: Socket
  /** The peer's address, without its port. */
  peer: string
  /** Requests that are being answered. */
  requests: number
}

/**
 * Keeps a server at no more than `most` connections. A further one takes the place of one on which nothing is asked: the
 * one that waits longest of the peer with the most, so that a peer who opens many shuts nobody else out. With a request
 * on every connection, the further one is closed.
 */
export function limitConnections(server: Server, most: number): void {
  /** By both ends' ports, in which TLS agrees with what is below it; whoever waits longest comes first. */
  const open = new Map<string, Connection>()

  const makeRoom = (newest: Connection) => {
    const counts = new Map<string, number>()
    for (const { peer } of open.values()) counts.set(peer, (counts.get(peer) ?? 0) + 1)
    const idle = [...open.values()].filter((one) => one.requests === 0 && one !== newest)
    const largest = Math.max(...counts.values())
    const victim = idle.find(({ peer }) => counts.get(peer) === largest) ?? idle[0] ?? newest
    victim.socket.destroy()
  }
  server.on('connection', (socket: Socket) => {
    const key = keyOf(socket)
    const connection = { socket, peer: socket.remoteAddress ?? '', requests: 0 }
    open.set(key, connection)
    socket.once('close', () => {
      if (open.get(key) === connection) open.delete(key)
    })
    if (open.size > most) makeRoom(connection)
  })
  const begin = (request: IncomingMessage, response: ServerResponse) => {
    const key = keyOf(request.socket)
    const connection = open.get(key)
    if (connection === undefined) return
    connection.requests += 1
    response.once('close', () => {
      connection.requests -= 1
      // It begins to wait now.
      if (open.delete(key)) open.set(key, connection)
    })
  }
  server.on('request', begin).on('checkExpectation', begin)
}

function keyOf({ remoteAddress, remotePort, localPort }: Socket): string {
  return `${remoteAddress} ${remotePort} ${localPort}`
}
