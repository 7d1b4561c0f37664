import { randomUUID } from 'node:crypto'
import type { Everything } from '../../model/records.ts'
import { Refusal } from '../../model/refusal.ts'
import { timers } from '../../timers.ts'
import type { OnBatch } from '../commits.ts'
import { codeOf } from '../errors.ts'
import { KEPT_EVENTS } from '../retention.ts'
import type { SharedValues } from '../shared-values.ts'
import type { Commit, Store } from '../store.ts'
import { pageOf } from '../tables/table.ts'
import {
  databaseUnavailable,
  isOutage,
  isRefused,
  openDatabase,
  orUnavailable,
  STATEMENT_MS,
  type Database,
  type Query,
} from './database.ts'
import { openSecrets, openSharedJournal, type Appending, type Change, type SharedJournal } from './journal.ts'
import { createReplica, TooLate, type Decided, type Job } from './replica.ts'
import { createSecretBox } from './secret-box.ts'
import { migrate, requireMigratable, requireRights } from './schema.ts'
import { openSlots, type LeaseTimes } from './slots.ts'
import { DatabaseUnusable } from './start-errors.ts'
import { repeat, retrying, RETRY_MS, timeRun, within } from './timing.ts'

/** A store whose records are in PostgreSQL, so that several processes can serve them. */
export interface PostgresStore extends Store {
  values: SharedValues
  database: Database
  /** Runs one statement beside the journal. @throws Refusal `storage_unavailable`. */
  query: Query
  /** Takes a share of the slots, until they are closed. */
  openSlots(times: LeaseTimes): ReturnType<typeof openSlots>
  /** Number of slots that this instance has; `undefined` before they are opened. */
  slotCount(): number | undefined
  /** Counts since the start, for metrics. */
  counts(): Readonly<Counts>
}

interface Counts {
  transactions: number
  /** Statements that lost against another instance and were decided again. */
  conflicts: number
}

interface PostgresStoreOptions {
  /** `postgres://user@host/database`. */
  url: string
  /** Name of the schema. */
  sandbox: string
  /** Key that encrypts secrets: 32 bytes in base64. */
  storeKey?: string | undefined
  /** Events kept, with their deliveries; events with pending deliveries are kept in any case. */
  keepEvents?: number
  onBatch?: OnBatch
  /** Called when the database stops answering, and when it answers again. */
  onNotice?: (notice: string) => void
  /** Called when a background job failed although the database answers; it is repeated. */
  onError?: (error: unknown) => void
}

/** Most transactions of one batch. */
const MOST_IN_BATCH = 64
/** Characters of JSON after which a batch takes no further transaction. The server stores them well within the time limit. */
const MOST_CHARACTERS = 4_000_000
/** Races against other instances that a batch loses before it waits for its turn, so that no instance is starved. */
const MOST_LOST = 3
/** Most requests that wait for the database; further ones are refused at once. */
const MOST_WAITING = 10_000
/** Most transactions that a stream which is opened again is sent. */
const MOST_MISSED = 5_000
/** Milliseconds that each row of a batch may take: an endpoint that is disabled ends all of its deliveries at once. */
const MS_PER_ROW = 1
/** Milliseconds between looks for changes of other instances, while this one writes nothing. */
const POLL_MS = 250
const COMPACT_MS = 2_000
/** Milliseconds for the reads of a round whose writes failed. With {@link STATEMENT_MS}, a request is answered within 2 s. */
const READS_ALONE_MS = 300
/** Milliseconds for which writes may fail without a notice, while reads are answered. */
const HELD_UP_MS = 10_000
/** Milliseconds between rounds of reads while this instance replaces all records. */
const READS_EVERY_MS = 10

/**
 * Opens a sandbox in PostgreSQL. Each instance has all records in memory, as of a sequence, and follows the journal in the
 * database. A batch of transactions is decided in memory and appended by one statement, which has no effect when another
 * instance has written meanwhile; then the batch is decided again. So all transactions of all instances have one order, and
 * no lock is held between statements. A read is answered when a statement has shown that the memory is up to date.
 * @throws DatabaseUnusable when the server cannot be reached, or refuses the settings.
 */
export async function openPostgresStore(options: PostgresStoreOptions): Promise<PostgresStore> {
  const { sandbox, keepEvents = KEPT_EVENTS, onNotice = () => {}, onError = () => {} } = options
  const database = await openDatabase(options)
  try {
    await migrate(database, sandbox)
    await requireRights(database, sandbox)
  } catch (error) {
    await database.close()
    throw database.startError(error)
  }
  const box = createSecretBox(options.storeKey, sandbox)
  const journal = openSharedJournal(database, box)
  const replica = createReplica(journal, box, keepEvents)
  const { tables } = replica
  const counts: Counts = { transactions: 0, conflicts: 0 }

  const waiting: Job[] = []
  const localReads: (() => void)[] = []
  const replacements: (() => Promise<void>)[] = []
  let running: Promise<void> | undefined
  let slots: ReturnType<typeof openSlots> | undefined
  const outages = createOutages(onNotice)
  let closed = false

  function complete(decided: Decided, seconds: number): void {
    const transactions = decided.rows.length
    counts.transactions += transactions
    options.onBatch?.({ transactions, seconds })
    replica.complete(decided)
  }

  const batchParts: BatchParts = {
    journal,
    replica,
    putBack: (jobs) => waiting.unshift(...jobs),
    onConflict: () => (counts.conflicts += 1),
    onAppended: complete,
  }

  /** One round: a batch of transactions and reads, in the order in which they came. */
  async function round(jobs: Job[], ms = STATEMENT_MS): Promise<void> {
    try {
      const { outcomes, rows } = await commit(jobs, timeRun() + ms, batchParts)
      for (const settleJob of outcomes) settleJob()
      outages.succeeded(rows.length > 0)
    } catch (error) {
      const refusal = databaseUnavailable(error)
      const hasWrites = jobs.some(({ isRead }) => !isRead)
      const failed = [...jobs, ...waiting.splice(0)]
      const reads = hasWrites ? takeReads(failed) : []
      for (const job of failed) job.reject(refusal)
      if (!hasWrites) return outages.allFailed(refusal)
      // The reads show whether the database is away.
      await round(reads, READS_ALONE_MS)
      outages.writesFailed(error, refusal)
    }
  }

  async function replaceAll(make: (all: Everything) => Everything): Promise<void> {
    const look = () => retrying(timeRun() + STATEMENT_MS, () => replica.catchUp())
    const upToDate = () =>
      orUnavailable(
        look().catch((error: unknown) => {
          const reloading = replica.reloading()
          if (reloading === undefined) throw error
          return reloading
        }),
      )
    do await upToDate()
    while (
      !(await orUnavailable(answeringReads(journal.replace(make(tables.all()), { seq: replica.seq() }))))
    )
    await upToDate()
  }

  /** Returns the result of `work`. Answers reads meanwhile; transactions wait. */
  async function answeringReads<T>(work: Promise<T>): Promise<T> {
    let isOver = false
    const over = work.finally(() => (isOver = true))
    while (!isOver) {
      await Promise.race([over, timers.sleep(READS_EVERY_MS)])
      const reads = takeReads(waiting)
      if (reads.length > 0) await round(reads)
    }
    return over
  }

  function run(): void {
    running ??= work()
  }

  /** Lets further requests join while they arrive: clients that were answered together ask again one after another. */
  async function gather(): Promise<void> {
    let before
    do {
      before = waiting.length
      await timers.nextTurn()
    } while (waiting.length > before && waiting.length < MOST_IN_BATCH)
  }

  async function work(): Promise<void> {
    while (waiting.length + replacements.length > 0) {
      await gather()
      const replacing = replacements.shift()
      if (replacing === undefined) await round(takeBatch(waiting))
      else await replacing()
      for (const read of localReads.splice(0)) read()
    }
    running = undefined
  }

  function requireAccepting(): void {
    if (closed) throw new Refusal('shutting_down', 'The store is closed. Start the service again.')
    if (waiting.length >= MOST_WAITING)
      throw new Refusal(
        'storage_unavailable',
        `${MOST_WAITING.toLocaleString('en')} requests wait for the database. Send the request again later.`,
      )
  }

  function enqueue<T>(decide: () => Change & { reply: T }, isRead = false): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      requireAccepting()
      waiting.push({ isRead, decide, resolve: resolve as (reply: unknown) => void, reject })
      run()
    })
  }

  /** Reads from memory, and answers once it is known to be up to date. */
  function readUpToDate<T>(read: () => T): Promise<T> {
    return enqueue(() => ({ reply: read(), writes: [], values: [] }), true)
  }

  /** Reads from memory without undurable transactions. */
  async function local<T>(read: () => T): Promise<T> {
    if (replica.isAhead()) await new Promise<void>((resolve) => localReads.push(resolve))
    return read()
  }

  async function committedAfter(after: number): Promise<readonly Commit[] | undefined> {
    if (after > replica.seq()) return undefined
    const found: Commit[] = []
    for (let from = after; from < replica.seq();) {
      const { changes, isLost } = await orUnavailable(journal.catchUp({ seq: from }))
      if (isLost || found.length > MOST_MISSED) return undefined
      for (const { writes } of changes) found.push({ sequence: ++from, writes })
    }
    return found
  }

  const bringUpToDate = () => readUpToDate(() => undefined)
  try {
    await replica.load()
  } catch (error) {
    await database.close()
    throw database.startError(error)
  }
  // A round says itself that it failed, and the next poll tries again.
  const poll = repeat(POLL_MS, () => running ?? bringUpToDate())
  const compact = compactRepeatedly(journal, { onNotice, onError, isClosed: () => closed })

  return {
    database,
    query: (text, given) => orUnavailable(database.query(text, given)),
    openSlots: (times) => (slots = openSlots(database, times)),
    slotCount: () => slots?.count(),
    onCommit: replica.onCommit,
    generation: replica.generation,
    sequence: replica.seq,
    committedAfter,
    bringUpToDate,
    counts: () => counts,
    transact: (reads, decide) =>
      enqueue(() => {
        const decision = decide(tables.read(reads), replica.generation())
        return { reply: decision, writes: decision.writes, values: [] }
      }),
    get: (collection, id) => readUpToDate(() => tables.of(collection).records.get(id)),
    find: (collection, index, key) => readUpToDate(() => [...tables.of(collection).find(index, key)]),
    async list(collection, query) {
      const { page } = await readUpToDate(() => ({ page: pageOf(tables.of(collection).records, query) }))
      return page
    },
    due: (query) => local(() => tables.due(query)),
    unfinished: (query) => local(() => tables.unfinished(query)),
    everything: () => readUpToDate(() => tables.all()),
    replace: (make) =>
      new Promise<void>((resolve, reject) => {
        requireAccepting()
        replacements.push(() => replaceAll(make).then(resolve, reject))
        run()
      }),
    values: {
      get: replica.readValue,
      update: (key, change) =>
        enqueue(() => {
          const { value, reply } = change(replica.readValue(key))
          return { reply, writes: [], values: replica.valueWrites(key, value) }
        }),
      onChange: replica.onValueChange,
    },
    async close() {
      if (closed) return
      closed = true
      const [polled, compacted] = [poll.stop(), compact.stop()]
      await polled
      await running
      // Cuts a compaction that takes long. The database undoes it, and the next one does it again.
      await database.close()
      await compacted
    },
  }
}

/**
 * Checks what a start needs of the database, and changes nothing in it: connection, version, rights and the key of the
 * secrets. Returns the message with which a start would fail; `undefined` when it would open the sandbox.
 */
export async function checkDatabase(
  options: Pick<PostgresStoreOptions, 'url' | 'sandbox' | 'storeKey'>,
): Promise<string | undefined> {
  const { sandbox, storeKey } = options
  try {
    const database = await openDatabase(options)
    try {
      const version = await requireMigratable(database, sandbox)
      if (version === 0) return undefined
      await requireRights(database, sandbox)
      const box = createSecretBox(storeKey, sandbox)
      await database.transaction((query) => openSecrets(query, database.schema, box), 'read only')
    } catch (error) {
      throw database.startError(error)
    } finally {
      await database.close()
    }
  } catch (error) {
    if (error instanceof DatabaseUnusable) return error.message
    throw error
  }
  return undefined
}

/** What a batch needs to become durable. */
interface BatchParts {
  journal: SharedJournal
  replica: ReturnType<typeof createReplica>
  /** Takes back the jobs for which the batch has no room. */
  putBack: (jobs: Job[]) => void
  /** Called when another instance has written first. */
  onConflict: () => void
  /** Called when a batch is appended, after so many seconds. */
  onAppended: (decided: Decided, seconds: number) => void
}

/**
 * Makes the decisions of `jobs` durable, and returns them. Decides again until no other instance has written in between.
 * Leaves in `jobs` those of this batch. Gives up when `timeRun` has passed `until`; then memory is as before.
 * @throws TooLate, and errors of the database.
 */
async function commit(
  jobs: Job[],
  until: number,
  { journal, replica, putBack, onConflict, onAppended }: BatchParts,
): Promise<Decided> {
  const tried = new Map<string, Decided>()
  const found = new Set<string>()
  /** Returns the decisions of a statement that was executed although there was no answer: the journal has its batch. */
  const executed = () => [...tried].find(([batch]) => found.has(batch))?.[1]
  let ahead: Decided | undefined
  const decide = (): Decided => {
    // Divided only before the first statement: a later one may find that an earlier one was executed, with all jobs.
    const decided = replica.decide(jobs, tried.size === 0 ? MOST_CHARACTERS : Infinity)
    putBack(jobs.splice(decided.outcomes.length))
    return decided
  }
  const msFor = (rows = 0) => Math.max(until - timeRun(), rows * MS_PER_ROW)
  /** Resolves with the decisions when they are appended, or need not be; `undefined` when the journal has new batches. */
  const attempt = async (own: Appending): Promise<Decided | undefined> => {
    const reloading = replica.reloading()
    if (reloading !== undefined) await within(msFor(), reloading)
    let decided = decide()
    if (decided.rows.length === 0) {
      if (!(await within(msFor(), replica.catchUp(own, found)))) return decided
      if (executed() !== undefined) return undefined
      // Now on records that are up to date.
      decided = decide()
      if (decided.rows.length === 0) return decided
    }
    ahead = decided
    const batch = randomUUID()
    tried.set(batch, decided)
    const ms = msFor(decided.rows.flat().length)
    return (await within(ms, own.append(decided.rows, { seq: replica.seq(), batch, ms })))
      ? decided
      : undefined
  }
  const attemptInTurn = () => {
    const ms = msFor(ahead?.rows.flat().length)
    const end = timeRun() + ms
    const inTurn = journal.inTurn(async (own) => {
      await replica.catchUp(own, found)
      // The round may be over, and another one may be under way.
      if (timeRun() >= end) throw new TooLate()
      return executed() === undefined ? attempt(own) : undefined
    })
    return within(ms, inTurn)
  }
  for (let lost = 0; ; lost += 1) {
    const began = timers.elapsed()
    try {
      const decided = await (lost < MOST_LOST ? attempt(journal) : attemptInTurn())
      if (decided !== undefined) {
        if (decided.rows.length > 0) onAppended(decided, (timers.elapsed() - began) / 1_000)
        return decided
      }
      onConflict()
      replica.undo(ahead)
    } catch (error) {
      replica.undo(ahead)
      if (timeRun() >= until || isRefused(error)) throw error
      await timers.sleep(RETRY_MS)
    }
    ahead = undefined
    await retrying(until, () => replica.catchUp(journal, found))
    const written = executed()
    if (written !== undefined) return written
  }
}

/** Says once when requests begin to fail, and once when all succeed again. */
function createOutages(onNotice: (notice: string) => void) {
  /** What fails, until it succeeds again: everything, or only writes. */
  const failing = new Set<'all' | 'writes'>()
  /** When rounds of writes began to fail without a code, by `timeRun`; `undefined` when they succeed. */
  let writesHeldSince: number | undefined

  function fail(what: 'all' | 'writes', { message }: Refusal): void {
    if (failing.size === 0)
      onNotice(`${message} ${what === 'all' ? 'Requests' : 'Requests that write'} get 503 until then.`)
    failing.add(what)
  }

  return {
    /** Must be called when a round without writes failed. */
    allFailed: (refusal: Refusal) => fail('all', refusal),
    /** Must be called when a round with writes failed, after its reads were tried alone. */
    writesFailed(error: unknown, refusal: Refusal): void {
      if (failing.has('all')) return
      writesHeldSince ??= timeRun()
      // Without a code, a replacement by another instance may hold up the writes for a while.
      if (codeOf(error) !== undefined || timeRun() - writesHeldSince > HELD_UP_MS) fail('writes', refusal)
    },
    succeeded(hasWritten: boolean): void {
      const had = failing.size
      failing.delete('all')
      if (hasWritten) {
        failing.delete('writes')
        writesHeldSince = undefined
      }
      if (had > 0 && failing.size === 0) onNotice('The database answers again.')
    },
  }
}

/** Compacts the journal in the background. Reports a failure once, unless it is an outage, and tries again. */
function compactRepeatedly(
  journal: Pick<SharedJournal, 'compact'>,
  {
    onNotice,
    onError,
    isClosed,
  }: Required<Pick<PostgresStoreOptions, 'onNotice' | 'onError'>> & { isClosed: () => boolean },
) {
  /** Message of the last failure. */
  let reported: string | undefined
  return repeat(
    COMPACT_MS,
    async () => {
      while (!isClosed() && (await journal.compact())) await timers.nextTurn()
      reported = undefined
    },
    (error) => {
      const message = String(error)
      const isNew = !isClosed() && !isOutage(error) && message !== reported
      reported = message
      if (isNew && isRefused(error))
        onNotice(`The database refuses to compact its journal (${codeOf(error)}). This is tried again.`)
      else if (isNew) onError(error)
    },
  )
}

/** Takes the next transactions, at most {@link MOST_IN_BATCH}, and the reads before and between them. */
function takeBatch(waiting: Job[]): Job[] {
  let transactions = 0
  const end = waiting.findIndex(({ isRead }) => !isRead && ++transactions > MOST_IN_BATCH)
  return waiting.splice(0, end === -1 ? waiting.length : end)
}

/** Takes all reads. */
function takeReads(jobs: Job[]): Job[] {
  const reads = jobs.filter(({ isRead }) => isRead)
  jobs.splice(0, jobs.length, ...jobs.filter(({ isRead }) => !isRead))
  return reads
}
