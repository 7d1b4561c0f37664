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
 * Limits a server to `most` connections. A further connection replaces an idle one: the one idle longest of the peer with
 * the most connections. So a peer that opens many connections does not shut others out. The further connection is closed
 * when every other one has a request in progress.
 */
export function limitConnections(server: Server, most: number): void {
  /** Connections by the ports of both ends, which a TLS socket shares with the socket below it; idle longest first. */
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
      // Inserted again at the end: the connection becomes idle now.
      if (open.delete(key)) open.set(key, connection)
    })
  }
  server.on('request', begin).on('checkExpectation', begin)
}

function keyOf({ remoteAddress, remotePort, localPort }: Socket): string {
  return `${remoteAddress} ${remotePort} ${localPort}`
}
