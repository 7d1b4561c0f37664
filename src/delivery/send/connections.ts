import type { buildConnector, Client } from 'undici'
import { skipContinue, type ResponseReader } from './skip-continue.ts'

/** One connection to an origin. It opens with its first request and sends one request at a time. */
export interface Connection {
  /** Must be called when a request is about to be written. */
  begin(): void
  dispatch: Client['dispatch']
  /** True when the connection has answered a request since it was opened. */
  isReused(): boolean
  /** True when a byte of the current response has arrived. */
  hasReceived(): boolean
  /** Returns the connection to the pool; its response must be complete. */
  release(): void
  destroy(): void
}

export interface Connections {
  /** Returns an idle connection, or a new one. */
  take(origin: string): Connection
  /** Returns a new connection. */
  open(origin: string): Connection
  /** Ends all connections, also those in use. */
  close(): Promise<void>
}

interface ConnectionSettings {
  connect: buildConnector.connector
  /** Milliseconds that an idle connection is kept. */
  keepAliveMs: number
}

/**
 * Connection pool of a sender. undici's own pool does not say whether a request used a reused connection, which the receiver
 * may have closed meanwhile.
 */
export async function createConnections({ connect, keepAliveMs }: ConnectionSettings): Promise<Connections> {
  const { Client } = await import('undici')
  const clients = new Set<Client>()
  /** Idle connections by origin, the most recently used one last. */
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
      // The attempt has its own deadline; undici's timeouts restart with each phase.
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
    // The receiver closed the connection, or it was idle for too long.
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
