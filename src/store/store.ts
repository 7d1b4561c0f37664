import type {
  Reads,
  CollectionName,
  Collections,
  Everything,
  ReadResults,
  Lookups,
  Write,
} from '../model/records.ts'
import type { Delivery } from '../model/delivery.ts'

/**
 * Where the service remembers: keyed, asynchronous, transactional. What is answered is durable: a read or a decision
 * that saw a change resolves only once that change is on disk, and rejects when it could not be put there.
 *
 * Every method rejects with Refusal `storage_unavailable` when the medium fails; memory then equals what is durable.
 */
export interface Store {
  /**
   * Gives `decide` the records that `reads` names and commits the writes that it returns as one durable unit. No other
   * transaction comes between the reading and the writing. `decide` is pure and synchronous; when it throws, nothing
   * is written. It may be called again by a store that retries.
   */
  transact<A extends Reads, D extends { writes: readonly Write[] }>(
    reads: A,
    decide: (records: ReadResults<A>) => D,
  ): Promise<D>

  /** The record with this id. */
  get<C extends CollectionName>(collection: C, id: string): Promise<Collections[C] | undefined>

  /** The records that a lookup finds, oldest first. */
  find<C extends CollectionName>(
    collection: C,
    lookup: Lookups[C],
    key: string,
  ): Promise<readonly Collections[C][]>

  /** One page of a collection. */
  list<C extends CollectionName>(collection: C, query: ListQuery<C>): Promise<Page<Collections[C]>>

  /** The pending deliveries whose time has come, and when the next one's will. */
  due(query: DueQuery): Promise<Due>
  /** What is still to be attempted of the deliveries that existed at some moment. */
  unfinished(query: UnfinishedQuery): Promise<Unfinished>

  /** All there is, as it was between two transactions. For the simulator's own controls: no operation walks over it. */
  everything(): Promise<Everything>

  /**
   * Puts what `make` returns in the place of all there is, so that after a crash the one or the other is there, whole.
   * Transactions wait until it is done; reads go on, of what was there before.
   */
  replace(make: (all: Everything) => Everything): Promise<void>

  /** Makes everything durable that is under way, folds, and lets go of the medium. */
  close(): Promise<void>
}

export interface ListQuery<C extends CollectionName> {
  /** Only records whose fields equal these; a dotted path reaches inside: `{ 'table.number': '12' }`. */
  where?: Readonly<Record<string, string>>
  /** Only records with a field that contains this text, in any case of letters; paths are as in `where`. */
  search?: Search | undefined
  /** `desc`, the newest first, unless it is `asc`, the oldest first. */
  order?: Order | undefined
  /** Only records that come after the one with this id (which itself may be gone) in that order. */
  after?: string | undefined
  /** At most this many, 1 or more. */
  limit: number
  /** Names the collection's type; never set. */
  readonly of?: C
}

export type Order = 'asc' | 'desc'

export interface Search {
  text: string
  fields: readonly string[]
}

export interface Page<T> {
  data: readonly T[]
  /** Whether there are further ones that match. */
  more: boolean
}

export interface DueQuery {
  /** Deliveries with `next_attempt_at` at or before this time are due. */
  now: Date
  /** Looks no further than this many deliveries of one endpoint, so that a slow receiver costs no one else anything. */
  perEndpoint: number
  /** How many are asked for: as many of each endpoint as are its share of these, at least one. All unless said. */
  wanted?: number
  /** Deliveries that are being attempted already, by id: neither due nor next. */
  busy: Pick<ReadonlySet<string>, 'has'>
  /** Endpoints that have no room for more, by id: their queues are not even looked at. */
  full?: Pick<ReadonlySet<string>, 'has'>
}

/** Asks about deliveries that existed at some moment, and about no later ones. */
export interface UnfinishedQuery extends Pick<DueQuery, 'now' | 'busy'> {
  /** The newest delivery that counts, by id. Identifiers sort by their making. */
  upTo: string
  /** Endpoints whose deliveries do not count, by id. */
  except: Pick<ReadonlySet<string>, 'has'>
}

export interface Unfinished {
  /** The endpoints to which one of them is due, by id. */
  due: readonly string[]
  /** When the earliest delivery to another endpoint falls due; `null` when none waits for a time. */
  next_at: string | null
}

export interface Due {
  /** Earliest first; at most `perEndpoint` of each endpoint, the busy ones counted in. */
  deliveries: readonly Delivery[]
  /** Whether an endpoint that had its share may have further ones. */
  more: boolean
  /** When the earliest of those not yet due falls due; `null` when none waits for a time. */
  next_at: string | null
}
