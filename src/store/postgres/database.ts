import { Socket } from 'node:net'
import type { ClientConfig, Pool, PoolClient } from 'pg'
import { Refusal } from '../../model/refusal.ts'
import { timers } from '../../timers.ts'
import { codeOf } from '../errors.ts'
import { startError, targetOf, DatabaseUnusable } from './start-errors.ts'
import { repeat, within } from './timing.ts'

/** A value that is sent with a statement. */
export type Value = string | number | boolean | null | readonly (string | number | boolean | null)[]

/**
 * Runs one statement and returns its rows, values by column; `bigint` comes as text. Each is a round trip, and outside of a
 * transaction it is a transaction of its own.
 */
export type Query = <Row = object>(
  text: string,
  values?: readonly Value[],
  /** Milliseconds until it counts as failed. */
  ms?: number,
) => Promise<readonly Row[]>

/** Connections to one schema of a PostgreSQL server. */
export interface Database {
  /** Quoted name of the schema, for statements. */
  schema: string
  query: Query
  /**
   * Runs `work` in one transaction.
   * @throws RolledBack when the server answered COMMIT with ROLLBACK.
   */
  transaction<T>(work: (query: Query) => Promise<T>, mode?: 'read only'): Promise<T>
  /** Number of connections, of those without work, and of callers that wait for one. */
  connections(): { open: number; idle: number; waiting: number }
  /** Returns an error of the start with what to change; it has no password. */
  startError(error: unknown): DatabaseUnusable
  /** Ends all connections. Those that do not answer are cut after half a second. */
  close(): Promise<void>
}

/** The server undid a transaction that had failed, and reported no error. */
class RolledBack extends Error {
  override readonly name = 'RolledBack'
}

/** Most connections of one instance. Writes need one at a time; the others read, renew leases and compact the journal. */
const MOST_CONNECTIONS = 6
/** Milliseconds until a statement counts as failed. A request is answered within 2 s, also when the server is gone. */
export const STATEMENT_MS = 1_500
/**
 * Milliseconds until the server ends a statement that waits for a lock. Its caller has given up, and its connection would
 * count beside those that replace it.
 */
const LOCK_MS = 2_000
/** Milliseconds for statements that read or write all records. */
const LONG_STATEMENT_MS = 120_000
/** Milliseconds until the server ends a statement of an instance that no longer waits for it. */
const ABANDONED_MS = 30_000
/** Milliseconds between two looks whether the server works on a long statement. */
const LOOK_MS = 1_000
/** Looks in a row after which the connection of a long statement is given up: when the server waits for it, or is silent. */
const MOST_LOOKS = { waiting: 2, silent: 10 }
/** Characters of values that even a slow network sends between two looks. */
const CHARACTERS_PER_LOOK = 100_000
/** Milliseconds that connections have to end in an orderly way. */
const CLOSING_MS = 500

interface DatabaseOptions {
  /** `postgres://user@host/database`; other settings come from the variables of libpq, such as PGPASSWORD. */
  url: string
  /** Name of the schema. */
  sandbox: string
}

/** Opens connections as they are needed. @throws DatabaseUnusable for a missing package or a wrong URL. */
export async function openDatabase({ url, sandbox }: DatabaseOptions): Promise<Database> {
  const { Pool, Client } = await loadDriver()
  const target = targetOf(url, sandbox, (config) => new Client(config))
  const sockets = new Map<object, Socket>()
  /** The driver leaves the socket open when a client fails to log in, so that each attempt would keep a connection. */
  class ClosingClient extends Client {
    constructor(config?: string | ClientConfig) {
      const socket = new Socket()
      super({ ...(config as ClientConfig), stream: () => socket })
      sockets.set(this, socket)
      socket.once('close', () => sockets.delete(this))
    }
    override connect(): Promise<this>
    override connect(callback: (error: Error | null) => void): void
    override connect(callback?: (error: Error | null) => void): Promise<this> | undefined {
      if (callback === undefined) return super.connect().then(() => this)
      super.connect((error: Error | null) => {
        if (error !== null) sockets.get(this)?.destroy()
        callback(error)
      })
      return undefined
    }
  }
  const pool: Pool = new Pool({
    Client: ClosingClient,
    connectionString: target.connectionString,
    max: MOST_CONNECTIONS,
    connectionTimeoutMillis: STATEMENT_MS,
    idleTimeoutMillis: 30_000,
    // An abandoned statement, or a connection that waits for this process, would block other instances.
    statement_timeout: ABANDONED_MS,
    lock_timeout: LOCK_MS,
    idle_in_transaction_session_timeout: 15_000,
    keepAlive: true,
    application_name: `tabwire ${sandbox}`,
  })
  // An error without a listener ends the process. The pool reports those of idle connections, each client those of busy ones.
  // Both listeners exist before a message that comes in one packet with the server's first is read.
  pool.on('error', () => {}).on('connect', (client) => client.on('error', () => {}))
  const schema = `"${sandbox}"`
  const run = (client: PoolClient, ms: number, text: string, values: readonly Value[] = []) => {
    // Not by the driver's time limit: it ends a statement whose answer came while this process got no CPU.
    return within(ms, client.query(text, [...values]))
  }
  const ask = async <Row>(...call: Parameters<typeof run>) => (await run(...call)).rows as readonly Row[]
  /** Gives a connection to `work`. After an error it is closed, since a statement may still run on it. */
  const connected = async <T>(work: (client: PoolClient) => Promise<T>): Promise<T> => {
    const client = await pool.connect()
    try {
      const result = await work(client)
      client.release()
      return result
    } catch (error) {
      client.release(true)
      throw error
    }
  }
  const query = <Row>(text: string, values?: readonly Value[], ms = STATEMENT_MS) =>
    connected((client) => ask<Row>(client, ms, text, values))

  /** Returns what a process of the server does; `silent` when the server, or a pooler, does not say. */
  async function stateOf({ pid, started }: Backend): Promise<'working' | 'waiting' | 'silent'> {
    try {
      const [found] = await query<{ waits: boolean | null }>(
        // Without track_activities, the state is `disabled`.
        `SELECT state LIKE 'idle%' OR wait_event_type = 'Client' AS waits FROM pg_stat_activity WHERE ${THIS_BACKEND}`,
        [pid, started],
      )
      // No row means that the process has ended. Without start times no row ever matches, so nothing is known.
      if (found === undefined) return started === null ? 'silent' : 'waiting'
      return found.waits === true ? 'waiting' : 'working'
    } catch {
      return 'silent'
    }
  }

  /**
   * Waits for a long statement of a process of the server. Rejects when the network has lost the statement or its answer:
   * nothing arrives, and the process waits for the client. It is ended then, because its locks would stop other instances.
   */
  async function whileConnected<T>(
    statement: Promise<T>,
    { client, backend, values = [] }: Connection & { values?: readonly Value[] | undefined },
  ): Promise<T> {
    const bytesRead = () => sockets.get(client)?.bytesRead
    let seen = bytesRead()
    let looks = { waiting: 0, silent: 0 }
    let look: ReturnType<typeof repeat> | undefined
    const lost = new Promise<never>((_resolve, reject) => {
      look = repeat(LOOK_MS, async () => {
        const before = seen
        seen = bytesRead()
        const state = seen === before ? await stateOf(backend) : 'working'
        if (state === 'working') looks = { waiting: 0, silent: 0 }
        else looks[state] += 1
        const sending = Math.ceil(charactersOf(values) / CHARACTERS_PER_LOOK)
        if (looks.waiting < MOST_LOOKS.waiting + sending && looks.silent < MOST_LOOKS.silent + sending) return
        reject(new Error('The connection to the database was lost.'))
        await query(
          `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
           WHERE ${THIS_BACKEND} AND usename = current_user AND state LIKE 'idle in transaction%'`,
          [backend.pid, backend.started],
        )
      })
    })
    try {
      return await Promise.race([statement, lost])
    } finally {
      void look?.stop()
    }
  }

  return {
    schema,
    query,
    transaction: (work, mode) =>
      connected(async (client) => {
        await run(
          client,
          STATEMENT_MS,
          mode === undefined ? 'BEGIN' : 'BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY',
        )
        const [backend = { pid: 0, started: null }] = await ask<Backend>(
          client,
          STATEMENT_MS,
          `SELECT set_config('statement_timeout', '${LONG_STATEMENT_MS}', true), set_config('lock_timeout', '0', true), pg_backend_pid() AS pid,
             (SELECT ${STARTED} FROM pg_stat_activity WHERE pid = pg_backend_pid()) AS started`,
        )
        const long = (text: string, values?: readonly Value[]) =>
          whileConnected(run(client, LONG_STATEMENT_MS, text, values), { client, backend, values })
        const result = await work(
          async <Row>(text: string, values?: readonly Value[]) =>
            (await long(text, values)).rows as readonly Row[],
        )
        const { command } = await long('COMMIT')
        if (command !== 'COMMIT') throw new RolledBack('The transaction was rolled back.')
        return result
      }),
    connections: () => ({ open: pool.totalCount, idle: pool.idleCount, waiting: pool.waitingCount }),
    startError: (error) => startError(error, target),
    async close() {
      const cut = timers.setTimeout(() => sockets.forEach((socket) => socket.destroy()), CLOSING_MS)
      await pool.end()
      timers.clearTimeout(cut)
      // Those that were logging in are not waited for.
      sockets.forEach((socket) => socket.destroy())
    },
  }
}

/** A process of the server. Its number may be used again by a later one. */
interface Backend {
  pid: number
  /** When it was started; `null` where the server does not say. */
  started: string | null
}

interface Connection {
  client: PoolClient
  backend: Backend
}

const STARTED = 'extract(epoch FROM backend_start)::text'
const THIS_BACKEND = `pid = $1 AND ${STARTED} = $2`

function charactersOf(values: readonly Value[]): number {
  return values.flat().reduce<number>((sum, value) => sum + String(value).length, 0)
}

async function loadDriver() {
  try {
    const { default: pg } = await import('pg')
    return pg
  } catch (cause) {
    if (codeOf(cause) !== 'ERR_MODULE_NOT_FOUND') throw cause
    throw new DatabaseUnusable(
      '--store needs the package pg, which is not installed beside Tabwire. Run `npm install pg`, or `npm install --global pg` for a global Tabwire.',
      { cause },
    )
  }
}

/**
 * Returns true for an error of the connection, for a server that stops, starts or lacks resources (SQLSTATE classes 08, 53
 * and 57), and for a wait for a lock that ended (55P03): the same statement succeeds later.
 */
export function isOutage(error: unknown): boolean {
  const code = codeOf(error)
  const isOfStatement = isSqlState(code) && !/^(08|53|57|55P03)/.test(code ?? '')
  return !isOfStatement && !(error instanceof TypeError)
}

/**
 * Returns true when the server has refused a statement for a reason that lasts, such as a full disk (53100) or a read-only
 * transaction (25006): it was not executed, and the same statement fails again.
 */
export function isRefused(error: unknown): boolean {
  const code = codeOf(error)
  // Connections, idle transactions, conflicts, locks, too many connections, and a server that stops or starts. Also errors
  // of the system, which poolers report for a server that they cannot reach.
  return isSqlState(code) && !/^(08|25P|40|55|57|58|XX|53300)/.test(code ?? '')
}

/** Returns true for a code of the server, such as 42501 or 57P03. Those of the system begin with E, such as EPIPE. */
function isSqlState(code = ''): boolean {
  return /^(?!E)[0-9A-Z]{5}$/.test(code)
}

/** Returns the refusal of a request that the database could not answer. It never has the address or the password. */
export function databaseUnavailable(error: unknown): Refusal {
  // Its message says what to change, and has no address either.
  if (error instanceof DatabaseUnusable) return new Refusal('storage_unavailable', error.message)
  const code = codeOf(error)
  const verb = isSqlState(code) ? 'refuses statements' : 'does not answer'
  const reason = code === undefined ? verb : `${verb} (${code})`
  return new Refusal(
    'storage_unavailable',
    `The database ${reason}. Send the request again; the service continues when the database is back.`,
  )
}

/** Resolves with the result of `work`. @throws Refusal `storage_unavailable` when it failed. */
export async function orUnavailable<T>(work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (error) {
    throw databaseUnavailable(error)
  }
}
