import { randomUUID } from 'node:crypto'
import type { Everything } from '../../model/records.ts'
import { Refusal } from '../../model/refusal.ts'
import { timers } from '../../timers.ts'
import { createListeners, pendingWrites, type OnBatch } from '../commits.ts'
import { codeOf } from '../errors.ts'
import { createRetention, KEPT_EVENTS } from '../retention.ts'
import type { Json, SharedValues, ValueListener } from '../shared-values.ts'
import type { Commit, Store } from '../store.ts'
import { pageOf } from '../tables/table.ts'
import { createTables } from '../tables/tables.ts'
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
import {
  openJournal,
  rowsOf,
  type Appending,
  type Change,
  type ChangeRow,
  type ValueWrite,
} from './journal.ts'
import { createSecretBox } from './secret-box.ts'
import { migrate, requireRights } from './schema.ts'
import { openSlots, type LeaseTimes } from './slots.ts'
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
  slotsHeld(): number | undefined
  /** Resolves when the database has answered. @throws Refusal `storage_unavailable`. */
  ready(): Promise<void>
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
    throw database.unusable(error)
  }
  const box = createSecretBox(options.storeKey, sandbox)
  const journal = openJournal(database, box)
  const tables = createTables()
  const expire = createRetention(tables, keepEvents)
  const { announce: tell, onCommit } = createListeners()
  const valueListeners = new Set<ValueListener>()
  let values = new Map<string, string>()
  let seq = -1
  let generation = -1
  const counts: Counts = { transactions: 0, conflicts: 0 }

  const waiting: Job[] = []
  const localReads: (() => void)[] = []
  const replacements: (() => Promise<void>)[] = []
  /** True while the memory has transactions that are not durable. */
  let isAhead = false
  /** Counts decisions and looks, so that an answer that comes too late is not applied. */
  let step = 0
  /** A reload under way. It may take longer than a round; until it ends, nothing is decided or applied. */
  let reloading: Promise<void> | undefined
  let running: Promise<void> | undefined
  let slots: ReturnType<typeof openSlots> | undefined
  /** What fails, until it succeeds again: everything, or only writes. */
  const failing = new Set<'all' | 'writes'>()
  /** When rounds of writes began to fail without a code, by `timeRun`; `undefined` when they succeed. */
  let writesHeldSince: number | undefined
  let closed = false

  /** Replaces the memory by what the database has. */
  async function reload(): Promise<void> {
    const contents = await journal.load()
    const { install } = await tables.prepare(contents.records)
    install()
    seq = contents.seq
    generation = contents.generation
    const before = values
    values = new Map(contents.values)
    for (const key of new Set([...before.keys(), ...values.keys()]))
      if (before.get(key) !== values.get(key)) tellValue(key)
  }

  /** Applies what the journal has and the memory has not. Returns whether anything was new; adds its batches to `found`. */
  async function catchUp(own: Pick<Appending, 'catchUp'> = journal, found = new Set<string>()) {
    if (reloading !== undefined) {
      await reloading
      return true
    }
    const mine = ++step
    let isNew = false
    for (;;) {
      const { changes, reload: isLost, batches, more } = await own.catchUp({ seq })
      if (mine !== step || isAhead) throw new TooLate()
      if (isLost) {
        reloading = reload().finally(() => (reloading = undefined))
        await reloading
        tell(pendingWrites(tables.all().deliveries), 'replacement', seq)
        return true
      }
      for (const batch of batches) found.add(batch)
      for (const change of changes) {
        isNew = true
        seq += 1
        tables.apply(change.writes)
        applyValues(change.values)
        announce(change)
      }
      if (!more) return isNew
    }
  }

  function applyValues(writes: readonly ValueWrite[]): readonly ValueWrite[] {
    return writes.map(({ key, json }) => {
      const before = values.get(key) ?? null
      if (json === null) values.delete(key)
      else values.set(key, json)
      return { key, json: before }
    })
  }

  /** Tells the listeners the transaction that led to `seq`. */
  function announce({ writes, values: written }: Change): void {
    if (writes.length > 0) tell(writes, undefined, seq)
    for (const { key } of written) tellValue(key)
  }

  function tellValue(key: string): void {
    for (const listener of valueListeners) listener(key, readValue(key))
  }

  function readValue(key: string): Json | undefined {
    const json = values.get(key)
    return json === undefined ? undefined : (JSON.parse(json) as Json)
  }

  /**
   * Decides jobs in memory, each on the records as the earlier ones left them. Moves the jobs behind a batch that is full to
   * `later`.
   */
  function decide(jobs: Job[], later?: Job[]): Decided {
    const decided: Decided = { outcomes: [], changes: [], rows: [], undo: [] }
    let characters = 0
    step += 1
    for (const [at, job] of jobs.entries()) {
      if (later !== undefined && characters > MOST_CHARACTERS) {
        later.unshift(...jobs.splice(at))
        break
      }
      try {
        const { reply, ...change } = job.decide()
        const rows = [...rowsOf(change, box)]
        const undoing = tables.apply(change.writes)
        const expired = change.writes.length === 0 ? [] : expire()
        rows.push(...rowsOf({ writes: expired, values: [] }, box))
        const undoExpired = tables.apply(expired)
        const undoValues = applyValues(change.values)
        decided.undo.push(() => {
          tables.apply(undoExpired)
          tables.apply(undoing)
          applyValues(undoValues)
        })
        if (rows.length > 0) {
          decided.rows.push(rows)
          decided.changes.push(change)
          characters += rows.reduce((sum, { doc }) => sum + (doc?.length ?? 0), 0)
        }
        decided.outcomes.push(() => job.resolve(reply))
      } catch (error) {
        decided.outcomes.push(() => job.reject(error))
      }
    }
    isAhead = decided.rows.length > 0
    return decided
  }

  function undo(decided: Decided | undefined): void {
    for (const one of decided?.undo.toReversed() ?? []) one()
    isAhead = false
  }

  /** Makes decisions durable. Decides again until no other instance has written in between. */
  async function commit(jobs: Job[], until: number): Promise<Decided> {
    const tried = new Map<string, Decided>()
    const found = new Set<string>()
    /** Returns the decisions of a statement that was executed although there was no answer: the journal has its batch. */
    const executed = () => [...tried].find(([batch]) => found.has(batch))?.[1]
    let ahead: Decided | undefined
    const msFor = (rows = 0) => Math.max(until - timeRun(), rows * MS_PER_ROW)
    /** Resolves with the decisions when they are appended, or need not be; `undefined` when the journal has new batches. */
    const attempt = async (own: Appending): Promise<Decided | undefined> => {
      if (reloading !== undefined) await within(msFor(), reloading)
      // Only before the first statement: a later one may find that an earlier one was executed, with all of its jobs.
      const later = tried.size === 0 ? waiting : undefined
      let decided = decide(jobs, later)
      if (decided.rows.length === 0) {
        if (!(await within(msFor(), catchUp(own, found)))) return decided
        if (executed() !== undefined) return undefined
        // Now on records that are up to date.
        decided = decide(jobs, later)
        if (decided.rows.length === 0) return decided
      }
      ahead = decided
      const batch = randomUUID()
      tried.set(batch, decided)
      const ms = msFor(decided.rows.flat().length)
      return (await within(ms, own.append(decided.rows, { seq, batch, ms }))) ? decided : undefined
    }
    const attemptInTurn = () => {
      const ms = msFor(ahead?.rows.flat().length)
      const end = timeRun() + ms
      const inTurn = journal.inTurn(async (own) => {
        await catchUp(own, found)
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
          if (decided.rows.length > 0) complete(decided, (timers.elapsed() - began) / 1_000)
          return decided
        }
        counts.conflicts += 1
        undo(ahead)
      } catch (error) {
        undo(ahead)
        if (timeRun() >= until || isRefused(error)) throw error
        await timers.sleep(RETRY_MS)
      }
      ahead = undefined
      await retrying(until, () => catchUp(journal, found))
      const written = executed()
      if (written !== undefined) return written
    }
  }

  /** Takes appended decisions for durable. */
  function complete({ changes, rows }: Decided, seconds: number): void {
    isAhead = false
    counts.transactions += rows.length
    options.onBatch?.({ transactions: rows.length, seconds })
    for (const change of changes) {
      seq += 1
      announce(change)
    }
  }

  /** One round: a batch of transactions and reads, in the order in which they came. */
  async function round(jobs: Job[], ms = STATEMENT_MS): Promise<void> {
    try {
      const { outcomes, rows } = await commit(jobs, timeRun() + ms)
      for (const settleJob of outcomes) settleJob()
      succeeded(rows.length > 0)
    } catch (error) {
      const refusal = databaseUnavailable(error)
      const hasWrites = jobs.some(({ isRead }) => !isRead)
      const failed = [...jobs, ...waiting.splice(0)]
      const reads = hasWrites ? takeReads(failed) : []
      for (const job of failed) job.reject(refusal)
      if (!hasWrites) return failedFor('all', refusal)
      // The reads show whether the database is away.
      await round(reads, READS_ALONE_MS)
      if (failing.has('all')) return
      writesHeldSince ??= timeRun()
      // Without a code, a replacement by another instance may hold up the writes for a while.
      if (codeOf(error) !== undefined || timeRun() - writesHeldSince > HELD_UP_MS)
        failedFor('writes', refusal)
    }
  }

  /** Says once that requests fail. */
  function failedFor(which: 'all' | 'writes', { message }: Refusal): void {
    if (failing.size === 0)
      onNotice(`${message} ${which === 'all' ? 'Requests' : 'Requests that write'} get 503 until then.`)
    failing.add(which)
  }

  function succeeded(hasWritten: boolean): void {
    const had = failing.size
    failing.delete('all')
    if (hasWritten) {
      failing.delete('writes')
      writesHeldSince = undefined
    }
    if (had > 0 && failing.size === 0) onNotice('The database answers again.')
  }

  async function replaceAll(make: (all: Everything) => Everything): Promise<void> {
    const look = () => retrying(timeRun() + STATEMENT_MS, () => catchUp())
    const upToDate = () =>
      orUnavailable(
        look().catch((error: unknown) => {
          if (reloading === undefined) throw error
          return reloading
        }),
      )
    do await upToDate()
    while (!(await orUnavailable(answeringReads(journal.replace(make(tables.all()), { seq })))))
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

  function enqueue<T>(decideOne: () => Change & { reply: T }, isRead = false): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      requireAccepting()
      waiting.push({ isRead, decide: decideOne, resolve: resolve as (reply: unknown) => void, reject })
      run()
    })
  }

  /** Reads from memory, and answers once it is known to be up to date. */
  function readUpToDate<T>(read: () => T): Promise<T> {
    return enqueue(() => ({ reply: read(), writes: [], values: [] }), true)
  }

  /** Reads from memory without undurable transactions. */
  function local<T>(read: () => T): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      if (isAhead) localReads.push(() => settle(read, resolve, reject))
      else settle(read, resolve, reject)
    })
  }

  async function committedAfter(after: number): Promise<readonly Commit[] | undefined> {
    if (after > seq) return undefined
    const found: Commit[] = []
    for (let from = after; from < seq;) {
      const { changes, reload: isLost } = await orUnavailable(journal.catchUp({ seq: from }))
      if (isLost || found.length > MOST_MISSED) return undefined
      for (const { writes } of changes) found.push({ sequence: ++from, writes })
    }
    return found
  }

  const bringUpToDate = () => readUpToDate(() => undefined)
  try {
    await reload()
  } catch (error) {
    await database.close()
    throw database.unusable(error)
  }
  // A round says itself that it failed, and the next poll tries again.
  const poll = repeat(POLL_MS, () => running ?? bringUpToDate())
  /** Message of the last failed compaction, so that each is reported once. */
  let reported: string | undefined
  const compact = repeat(
    COMPACT_MS,
    async () => {
      while (!closed && (await journal.compact())) await timers.nextTurn()
      reported = undefined
    },
    (error) => {
      const message = String(error)
      const isNew = !closed && !isOutage(error) && message !== reported
      reported = message
      if (isNew && isRefused(error))
        onNotice(`The database refuses to compact its journal (${codeOf(error)}). This is tried again.`)
      else if (isNew) onError(error)
    },
  )

  return {
    database,
    query: (text, given) => orUnavailable(database.query(text, given)),
    openSlots: (times) => (slots = openSlots(database, times)),
    slotsHeld: () => slots?.held(),
    onCommit,
    generation: () => generation,
    sequence: () => seq,
    committedAfter,
    bringUpToDate,
    counts: () => counts,
    ready: bringUpToDate,
    transact: (asked, decideOne) =>
      enqueue(() => {
        const decision = decideOne(tables.read(asked), generation)
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
      get: readValue,
      update: (key, change) =>
        enqueue(() => {
          const { value, reply } = change(readValue(key))
          const json = value === undefined ? null : JSON.stringify(value)
          const writes: ValueWrite[] = json === (values.get(key) ?? null) ? [] : [{ key, json }]
          return { reply, writes: [], values: writes }
        }),
      onChange(listener) {
        valueListeners.add(listener)
        return () => valueListeners.delete(listener)
      },
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

interface Job {
  isRead: boolean
  decide: () => Change & { reply: unknown }
  resolve: (reply: unknown) => void
  reject: (error: unknown) => void
}

/** Decisions that are in memory and not durable yet. */
interface Decided {
  /** Tell the callers, in order. */
  outcomes: (() => void)[]
  /** Transactions that write, and their rows. */
  changes: Change[]
  rows: (readonly ChangeRow[])[]
  undo: (() => void)[]
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

/** The database answered after the time of the round was over. */
class TooLate extends Error {}

function settle<T>(read: () => T, resolve: (value: T) => void, reject: (error: unknown) => void): void {
  try {
    resolve(read())
  } catch (error) {
    reject(error)
  }
}
