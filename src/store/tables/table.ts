import { createRequire } from 'node:module'
import type sorted from 'sorted-btree'
import { checkKey, keyOfItsCheck } from '../../model/check.ts'
import type { CollectionName, Collections, Indexes } from '../../model/records.ts'
import type { Order, Page, Search } from '../store.ts'
import { timers } from '../../timers.ts'

/**
 * Records by id, in order of id, which is the order of creation. They are only read here: writes go through the table, which
 * keeps its indexes.
 */
export interface RecordsInOrder<T> {
  readonly size: number
  get(id: string): T | undefined
  /** Iterates from this id on; by default from the first record. */
  values(id?: string): Iterable<T>
  /** Iterates backwards from this id; by default from the last record. */
  entriesReversed(id?: string): Iterable<[string, T]>
  /** Returns a copy that later writes do not change, in constant time. */
  clone(): RecordsInOrder<T>
}

/** A record. Of all collections, only events have a body. */
interface Stored {
  id: string
  body?: string
}

/** One collection in memory: its records by id, and its indexes. */
export interface RecordTable<T extends Stored> {
  readonly records: RecordsInOrder<T>
  /** Length of all bodies, in UTF-16 code units. */
  readonly characters: number
  /** Inserts or replaces a record; returns the record that it replaced. */
  put(record: T): T | undefined
  /** Removes and returns the record with an id. */
  remove(id: string): T | undefined
  /** Returns the records under a key of an index, oldest first, iterated lazily. */
  find(index: string, key: string): Iterable<T>
}

/** Creates a table with an index for each rule, and further indexes. It updates them with the records. */
export function createTable<T extends Stored>(
  rules: Readonly<Record<string, KeyOf<T>>>,
  further: Readonly<Record<string, KeyIndex<T>>> = {},
): RecordTable<T> {
  const tree = new SortedTree<string, T>(undefined, compareText)
  const indexes = new Map(Object.entries(further))
  for (const [name, rule] of Object.entries(rules)) indexes.set(name, createKeyIndex(rule))
  const all = [...indexes.values()]
  const move = (before: T | undefined, after: T | undefined) => {
    for (const index of all) index.move(before, after)
    table.characters += (after?.body?.length ?? 0) - (before?.body?.length ?? 0)
    return before
  }
  const table = {
    records: tree,
    characters: 0,
    put(record) {
      // Ids increase with time, so most records are new and come last.
      const before = record.id > (tree.maxKey() ?? '') ? undefined : tree.get(record.id)
      tree.set(record.id, record)
      return move(before, record)
    },
    remove(id) {
      const before = tree.get(id)
      tree.delete(id)
      return move(before, undefined)
    },
    find: (index, key) => indexes.get(index)?.find(key) ?? [],
  } satisfies RecordTable<T>
  return table
}

/**
 * A map in order of its keys. `clone` takes constant time: copies share unchanged nodes. Loaded by `require`, because the
 * default import of a CommonJS package is its exports in Node, but its `default` in bundlers and test runners.
 */
export const { default: SortedTree } = createRequire(import.meta.url)('sorted-btree') as typeof sorted
export type SortedTree<K, V> = sorted.default<K, V>

/** Compares by UTF-16 code units, which orders identifiers and ISO 8601 times by time. */
export function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}

/** Index of records by a key other than their id, updated with every write at constant cost. */
export interface KeyIndex<T> {
  /** Replaces `before` by `after`; either may be missing. */
  move(before: T | undefined, after: T | undefined): void
  /** Returns the records under a key, oldest first, without copying: valid until the next write. */
  find(key: string): Iterable<T>
}

/** The records under one key: usually a single record, else a list. */
type Entry<T extends { id: string }> = T | Many<T>

/** A short list of records, oldest first, such as the claims of a check. */
class Many<T extends { id: string }> {
  readonly records: T[] = []

  /** Inserts a record by id. Ids sort by creation time, so it comes last unless the clock was set back. */
  set(record: T): this {
    const { records } = this
    let at = records.length
    while (at > 0 && (records[at - 1]?.id ?? '') > record.id) at--
    const isThere = records[at - 1]?.id === record.id
    if (isThere) records[at - 1] = record
    else records.splice(at, 0, record)
    return this
  }

  delete(id: string): void {
    const at = this.records.findIndex((record) => record.id === id)
    if (at !== -1) this.records.splice(at, 1)
  }
}

/** Creates an index; `keyOf` returns the key of a record, or `null` when it is not indexed. */
function createKeyIndex<T extends { id: string }>(keyOf: (record: T) => string | null): KeyIndex<T> {
  const found = new Map<string, Entry<T>>()
  const take = (key: string, { id }: T) => {
    const entry = found.get(key)
    if (entry instanceof Many) entry.delete(id)
    if (!(entry instanceof Many) || entry.records.length === 0) found.delete(key)
  }
  return {
    move(before, after) {
      const from = before === undefined ? null : keyOf(before)
      const to = after === undefined ? null : keyOf(after)
      if (before !== undefined && from !== null && from !== to) take(from, before)
      if (after === undefined || to === null) return
      const entry = found.get(to)
      if (entry === undefined || (!(entry instanceof Many) && entry.id === after.id)) found.set(to, after)
      else if (entry instanceof Many) entry.set(after)
      else found.set(to, new Many<T>().set(entry).set(after))
    },
    find(key) {
      const entry = found.get(key)
      if (entry === undefined) return []
      return entry instanceof Many ? entry.records : [entry]
    },
  }
}

/** Returns the key of a record in an index; `null` when it is not indexed. */
type KeyOf<T> = (record: T) => string | null

type Rules<C extends CollectionName> = Readonly<Record<Indexes[C], KeyOf<Collections[C]>>>

/** The indexes of each collection, beside the due index of deliveries. */
export const indexRules: { readonly [C in CollectionName]: Omit<Rules<C>, 'pending_of'> } = {
  locations: { all: () => '' },
  keys: { hash: ({ hash }) => hash },
  checks: { external: checkKey },
  claims: { check: keyOfItsCheck },
  payments: { check: keyOfItsCheck },
  feedback: { check: keyOfItsCheck },
  endpoints: { status: ({ status }) => status },
  events: {},
  deliveries: { event: ({ event_id }) => event_id },
}

interface RecordQuery<T> {
  where?: Readonly<Record<string, string>>
  search?: Search | undefined
  only?: ((record: T) => boolean) | undefined
  order?: Order | undefined
  after?: string | undefined
  limit: number
}

/** Records examined per turn of the event loop, about 1 ms of work. */
const SLICE = 2000

/**
 * Returns one page of the current records, newest first unless the order is `asc`. A long search continues on a copy, in
 * slices between which other requests run.
 */
export async function pageOf<T extends { id: string }>(
  records: RecordsInOrder<T>,
  { where = {}, search, only, order, after, limit }: RecordQuery<T>,
): Promise<Page<T>> {
  const data: T[] = []
  const matches = matcherOf(where, search)
  let [seen, last] = [records, after]
  for (;;) {
    let looks = 0
    for (const record of order === 'asc' ? seen.values(last) : reversed(seen, last)) {
      if (record.id === last) continue
      if (matches(record) && only?.(record) !== false) {
        if (data.length === limit) return { data, more: true }
        data.push(record)
      }
      last = record.id
      if (++looks === SLICE) break
    }
    if (looks < SLICE) return { data, more: false }
    if (seen === records) seen = records.clone()
    await timers.nextTurn()
  }
}

function* reversed<T>(records: RecordsInOrder<T>, from: string | undefined): Generator<T> {
  for (const [, record] of records.entriesReversed(from)) yield record
}

function matcherOf(where: Readonly<Record<string, string>>, search?: Search): (record: unknown) => boolean {
  const conditions = Object.entries(where).map(([path, wanted]) => ({ path: path.split('.'), wanted }))
  const isFound = finderOf(search)
  return (record) =>
    conditions.every(({ path, wanted }) => fieldAt(record, path) === wanted) && isFound(record)
}

function finderOf(search: Search | undefined): (record: unknown) => boolean {
  if (search === undefined) return () => true
  const pattern = new RegExp(search.text.replace(/[$()*+.?[\\\]^{|}]/g, '\\$&'), 'i')
  const paths = search.fields.map((path) => path.split('.'))
  return (record) =>
    paths.some((path) => {
      const value = fieldAt(record, path)
      return (typeof value === 'string' || typeof value === 'number') && pattern.test(String(value))
    })
}

/** Returns the field at a path, in which `last` is the last element of a list. */
function fieldAt(record: unknown, path: readonly string[]): unknown {
  return path.reduce(
    (at, name) =>
      Array.isArray(at) && name === 'last'
        ? at.at(-1)
        : (at as Record<string, unknown> | null | undefined)?.[name],
    record,
  )
}
