import type { Socket } from 'node:net'
import type { buildConnector, Client } from 'undici'

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
    const progress: ResponseProgress = { head: undefined, bytes: 0 }
    let answers = 0
    const client = new Client(origin, {
      connect: (target, callback) =>
        connect(target, (error, socket) => {
          if (socket !== null) skipContinue(socket, progress)
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
      begin() {
        progress.head = Buffer.alloc(0)
        progress.bytes = 0
      },
      dispatch: client.dispatch.bind(client),
      isReused: () => answers > 0,
      hasReceived: () => progress.bytes > 0,
      release() {
        answers += 1
        const kept = idle.get(origin)
        if (kept === undefined) idle.set(origin, [connection])
        else kept.push(connection)
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
      return idle.get(origin)?.pop() ?? open(origin)
    },
    async close() {
      await Promise.all(Array.from(clients, (client) => client.destroy()))
    },
  }
}

/** How far the current response of a connection is read. */
interface ResponseProgress {
  /** Its first bytes, while they do not tell whether it is `100`; then `undefined`. */
  head: Buffer | undefined
  /** Bytes of it that have arrived; counted until `head` is `undefined`. */
  bytes: number
}

/** A receiver sent informational responses without end. */
class InformationalOverflow extends Error {
  readonly code = 'TABWIRE_INFORMATIONAL'
  override readonly message = 'it sent more than 16 KiB of informational responses (1xx). Return 2xx at once.'
}

/** After 101 comes another protocol. */
const INFORMATIONAL = /^HTTP\/1\.[01] 1(?!01)\d\d[ \r]/
const CONTINUE = /^HTTP\/1\.[01] 100[ \r]/
/** The beginning of the start line of an informational response. */
const BEGINNING = /^(?:H|HT|HTT|HTTP|HTTP\/|HTTP\/1|HTTP\/1\.|HTTP\/1\.[01](?: (?:1\d{0,2} ?)?)?)?$/
/** Bytes needed to tell whether a response is `100`. */
const TELLING = 'HTTP/1.1 100 '.length
/** Limit of all informational responses together, in bytes: undici's limit for response headers. */
const LONGEST_HEAD = 16 * 1024

/**
 * Removes `100 Continue` before a response, also beside other informational ones. undici skips those, but ends the connection
 * for this one, which some receivers send unasked. By default, the connection is for one request.
 */
export function skipContinue(
  socket: Socket,
  progress: ResponseProgress = { head: Buffer.alloc(0), bytes: 0 },
): void {
  const read = socket.read.bind(socket) as (size?: number) => Buffer | null
  socket.read = (size?: number) => {
    const chunk = read(size)
    if (chunk === null || size === 0) return chunk
    const { head } = progress
    if (head === undefined) return chunk
    progress.bytes += chunk.length
    const rest = withoutContinue(head.length === 0 ? chunk : Buffer.concat([head, chunk]))
    progress.head = rest.isWhole ? undefined : rest.bytes
    if (!rest.isWhole && progress.bytes > LONGEST_HEAD) socket.destroy(new InformationalOverflow())
    return rest.isWhole ? rest.bytes : null
  }
}

/**
 * Strips `100 Continue` from the informational responses at the start. `isWhole` is false while more bytes are needed to tell
 * whether another one follows.
 */
function withoutContinue(bytes: Buffer): { bytes: Buffer; isWhole: boolean } {
  const kept: Buffer[] = []
  let at = 0
  for (;;) {
    const start = bytes.toString('latin1', at, at + TELLING)
    const isPartial = start.length < TELLING && BEGINNING.test(start)
    const end = INFORMATIONAL.test(start) ? endOfHead(bytes, at) : undefined
    if (isPartial || end === undefined || end === -1) {
      const rest = Buffer.concat([...kept, bytes.subarray(at)])
      return { bytes: rest, isWhole: !isPartial && end === undefined }
    }
    if (!CONTINUE.test(start)) kept.push(bytes.subarray(at, end + 4))
    at = end + 4
  }
}

/** Returns where a head ends; -1 when more bytes are needed, `undefined` for line ends that the parser refuses. */
function endOfHead(bytes: Buffer, at: number): number | undefined {
  const end = bytes.indexOf('\r\n\r\n', at)
  const head = bytes.toString('latin1', at, end === -1 ? bytes.length : end)
  return /[^\r]\n/.test(head) ? undefined : end
}
