import type { buildConnector, Client } from 'undici'
import { skipContinue, type ResponseReader } from './skip-continue.ts'

/** One connection to an origin, which is opened with its first request and sends one request at a time. */
export interface Connection {
  /** Called when a request is about to be written. */
  begin(): void
  dispatch: Client['dispatch']
  /** Whether the connection has answered another request before; not once it was opened anew. */
  isReused(): boolean
  /** Whether a byte of the answer to the request that has begun has arrived. */
  hasReceived(): boolean
  /** Keeps the connection for the next request, once its answer is complete. */
  release(): void
  destroy(): void
}

export interface Connections {
  /** A connection that is kept, or else a new one. */
  take(origin: string): Connection
  /** A new connection. */
  open(origin: string): Connection
  /** Ends all of them, also those in use. */
  close(): Promise<void>
}

interface ConnectionSettings {
  connect: buildConnector.connector
  /** How long an idle connection is kept, in milliseconds. */
  keepAliveMs: number
}

/**
 * The connections of a sender. undici's own pool does not tell whether a request went over a reused connection, which may
 * have been closed by the receiver meanwhile.
 */
export async function createConnections({ connect, keepAliveMs }: ConnectionSettings): Promise<Connections> {
  const { Client } = await import('undici')
  const clients = new Set<Client>()
  /** By origin, the one that was used last at the end. */
  const idle = new Map<string, Connection[]>()

  function open(origin: string): Connection {
    let reader: ResponseReader | undefined
    let answers = 0
    const client = new Client(origin, {
      connect: (target, callback) =>
        connect(target, (error, socket) => {
          if (socket !== null) reader = skipContinue(socket)
          answers = 0
          if (socket === null) callback(error, null)
          else callback(null, socket)
        }),
      keepAliveTimeout: keepAliveMs,
      keepAliveMaxTimeout: keepAliveMs,
      // The deadline of the attempt is the only one: undici's own start anew for each phase.
      headersTimeout: 0,
      bodyTimeout: 0,
    })
    const connection: Connection = {
      begin: () => reader?.expectResponse(),
      dispatch: (options, handler) => client.dispatch(options, handler),
      isReused: () => answers > 0,
      hasReceived: () => reader?.hasReceived() ?? false,
      release() {
        answers += 1
        idle.set(origin, [...(idle.get(origin) ?? []), connection])
      },
      destroy() {
        forget(origin, connection)
        clients.delete(client)
        void client.destroy()
      },
    }
    // Closed by the receiver, or idle for too long.
    client.on('disconnect', () => {
      if (idle.get(origin)?.includes(connection) === true) connection.destroy()
    })
    clients.add(client)
    return connection
  }

  function forget(origin: string, connection: Connection): void {
    const left = (idle.get(origin) ?? []).filter((one) => one !== connection)
    if (left.length > 0) idle.set(origin, left)
    else idle.delete(origin)
  }

  return {
    open,
    take(origin) {
      const kept = idle.get(origin)?.at(-1)
      if (kept === undefined) return open(origin)
      forget(origin, kept)
      return kept
    },
    async close() {
      await Promise.all(Array.from(clients, (client) => client.destroy()))
    },
  }
}
