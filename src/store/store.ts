import type {
  Reads,
  CollectionName,
  Collections,
  Everything,
  ReadResults,
  Indexes,
  Write,
} from '../model/records.ts'
import type { Delivery } from '../model/delivery.ts'

/**
 * The port for records: keyed, asynchronous, transactional. Results are durable: a read or a decision that saw a change
 * resolves once that change is on disk, and rejects when it cannot be written.
 *
 * Every method rejects with Refusal `storage_unavailable` when the disk fails; memory then equals what is durable.
 */
export interface Store {
  /**
   * Gives `decide` the records that `reads` names, with their {@link Store.generation}, and commits the writes that it
   * returns as one durable unit. No other transaction comes between the reading and the writing. `decide` is pure and
   * synchronous; when it throws, nothing is written. It may be called again by a store that retries.
   */
  transact<A extends Reads, D extends { writes: readonly Write[] }>(
    reads: A,
    decide: (records: ReadResults<A>, generation: number) => D,
  ): Promise<D>

  /** Returns the record with this id. */
  get<C extends CollectionName>(collection: C, id: string): Promise<Collections[C] | undefined>

  /** Returns the records under a key of an index, oldest first. */
  find<C extends CollectionName>(
    collection: C,
    index: Indexes[C],
    key: string,
  ): Promise<readonly Collections[C][]>

  /** Returns one page of a collection. */
  list<C extends CollectionName>(collection: C, query: ListQuery<C>): Promise<Page<Collections[C]>>

  /** Returns the deliveries that are due, and when the next one will be. */
  due(query: DueQuery): Promise<Due>
  /** Returns the endpoints with a due delivery up to an id, and when the next one to another endpoint falls due. */
  unfinished(query: UnfinishedQuery): Promise<Unfinished>

  /** Returns all records as of one transaction. For the simulator's controls; no operation iterates over all records. */
  everything(): Promise<Everything>

  /**
   * Replaces all records by the result of `make`, atomically: after a crash, all old or all new records are there.
   * Transactions wait for it; reads meanwhile return the old records.
   */
  replace(make: (all: Everything) => Everything): Promise<void>

  /** Number of replacements so far. Work that began in an earlier generation must not be recorded. */
  generation(): number
  /**
   * Calls `listener` with the writes of each transaction, in order, once they are durable; in a shared store, also with
   * those of other processes. Removals of old events by this process are left out. The result removes the listener.
   */
  onCommit(listener: CommitListener): () => void
  /** Sequence of the last transaction that listeners got. Sequences rise; a shared store has one for all processes. */
  sequence(): number
  /**
   * Returns the transactions after a sequence, oldest first, up to the newest, with at least their writes of events and
   * deliveries; `undefined` when one of them is no longer kept, or when all records were replaced since.
   */
  committedAfter(sequence: number): Promise<readonly Commit[] | undefined>
  /** Resolves when listeners got all transactions that were durable before the call, also those of other processes. */
  bringUpToDate(): Promise<void>

  /** Makes all pending transactions durable, compacts, and releases the directory. */
  close(): Promise<void>
}

/** A `replacement` invalidates all earlier records; its writes put the pending deliveries, oldest first. */
export type CommitListener = (
  writes: readonly Write[],
  kind: 'replacement' | undefined,
  sequence: number,
) => void

/** A transaction that wrote records. */
export interface Commit {
  sequence: number
  writes: readonly Write[]
}

interface ListQuery<C extends CollectionName> {
  /** Only records whose fields equal these; dotted paths name nested fields: `{ 'table.number': '12' }`. */
  where?: Readonly<Record<string, string>>
  /** Only records with a field that contains this text, ignoring case; paths are as in `where`. */
  search?: Search | undefined
  /** Only records for which this returns true. It must be pure: it is called between other transactions. */
  only?: ((record: Collections[C]) => boolean) | undefined
  /** `desc` (newest first) by default, or `asc` (oldest first). */
  order?: Order | undefined
  /** Only records after this id in that order; its record may be gone. */
  after?: string | undefined
  /** Most records to return, at least 1. */
  limit: number
}

export type Order = 'asc' | 'desc'

export interface Search {
  text: string
  fields: readonly string[]
}

export interface Page<T> {
  data: readonly T[]
  /** True when further records match. */
  more: boolean
}

export interface DueQuery {
  /** Deliveries with `next_attempt_at` at or before this time are due. */
  now: Date
  /** Most deliveries of one endpoint to examine, so that a slow receiver does not slow down others. */
  perEndpoint: number
  /** Deliveries wanted, shared equally among the endpoints, at least one each. Default: all. */
  wanted?: number
  /** Returns true for deliveries in flight, by id: neither due nor next. Default: none. */
  isBusy?: (deliveryId: string) => boolean
  /** Returns true for endpoints without capacity, by id; their deliveries are not examined. Default: none. */
  isFull?: (endpointId: string) => boolean
}

/** Selects the deliveries that existed at some moment. */
export interface UnfinishedQuery extends Pick<DueQuery, 'now' | 'isBusy'> {
  /** Id of the newest delivery that counts; ids sort by creation time. */
  upTo: string
  /** Ids of endpoints whose deliveries do not count. */
  except: Pick<ReadonlySet<string>, 'has'>
}

export interface Unfinished {
  /** Ids of the endpoints with a due delivery. */
  due: readonly string[]
  /** When the earliest delivery to another endpoint falls due; `null` when none is scheduled. */
  next_at: string | null
}

export interface Due {
  /** Earliest first, of the first `perEndpoint` of each endpoint's queue; those in flight count and are left out. */
  deliveries: readonly Delivery[]
  /** True when an endpoint that got its share may have further due deliveries. */
  more: boolean
  /** When the next delivery falls due; `null` when none is scheduled. */
  next_at: string | null
}
