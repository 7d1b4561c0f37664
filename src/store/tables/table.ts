import { createKeyIndex, type KeyIndex, type KeyOf } from './key-index.ts'
import { createSortedRecords, type ReadableRecords, type RecordsInOrder } from './sorted-records.ts'
import type { Order, Page, Search } from '../store.ts'
import { timers } from '../../timers.ts'

/** One collection in memory: its records by id, and its indexes. */
export interface Table<T extends { id: string }> {
  readonly records: ReadableRecords<T>
  /** Inserts or replaces a record; returns the record that it replaced. */
  put(record: T): T | undefined
  /** Removes and returns the record with an id. */
  remove(id: string): T | undefined
  /** Returns the records under a key of an index, oldest first, iterated lazily. */
  find(lookup: string, key: string): Iterable<T>
}

/** Creates a table with an index for each rule, and further indexes. It updates them with the records. */
export function createTable<T extends { id: string }>(
  rules: Readonly<Record<string, KeyOf<T>>>,
  further: Readonly<Record<string, KeyIndex<T>>> = {},
): Table<T> {
  const records = createSortedRecords<T>()
  const lookups = new Map(Object.entries(further))
  for (const [name, rule] of Object.entries(rules)) lookups.set(name, createKeyIndex(rule))
  const indexes = [...lookups.values()]
  const move = (before: T | undefined, after: T | undefined) => {
    for (const index of indexes) index.move(before, after)
    return before
  }
  return {
    records,
    put: (record) => move(records.put(record), record),
    remove: (id) => move(records.take(id), undefined),
    find: (lookup, key) => lookups.get(lookup)?.find(key) ?? [],
  }
}

interface PageQuery<T> {
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
  { where = {}, search, only, order, after, limit }: PageQuery<T>,
): Promise<Page<T>> {
  const data: T[] = []
  const matches = matcherOf(where, search)
  let [seen, last] = [records, after]
  for (;;) {
    let looks = 0
    for (const record of order === 'asc' ? seen.from(last) : seen.backFrom(last)) {
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

function fieldAt(record: unknown, path: readonly string[]): unknown {
  return path.reduce((at, name) => (at as Record<string, unknown> | null | undefined)?.[name], record)
}
