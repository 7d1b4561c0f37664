import { createIndex, type Index } from './index-tree.ts'
import type { IndexRule } from './schema.ts'
import { compareText, sortedTree, type SortedTree } from './sorted-tree.ts'
import type { Page } from './store.ts'

/** One collection in memory: its records by id, and its indexes. */
export interface Table<T extends { id: string }> {
  readonly records: SortedTree<string, T>
  /** Puts a record in the place of the one with its id, which is returned. */
  put(record: T): T | undefined
  /** Takes away and returns the record with an id. */
  remove(id: string): T | undefined
  /** The records under a key of a lookup, oldest first, walked only if wanted. */
  find(lookup: string, key: string): Iterable<T>
}

/** `further` are indexes that the table keeps up to date, and others read. */
export function createTable<T extends { id: string }>(
  rules: Readonly<Record<string, IndexRule<T>>>,
  further: readonly Index<T>[] = [],
): Table<T> {
  const records = sortedTree<string, T>(compareText)
  const lookups = new Map(Object.entries(rules).map(([name, rule]) => [name, createIndex(rule)]))
  const indexes = [...lookups.values(), ...further]
  const move = (before: T | undefined, after: T | undefined) => {
    for (const index of indexes) index.move(before, after)
    return before
  }
  return {
    records,
    put(record) {
      const before = records.get(record.id)
      records.set(record.id, record)
      return move(before, record)
    },
    remove(id) {
      const before = records.get(id)
      records.delete(id)
      return move(before, undefined)
    },
    find: (lookup, key) => lookups.get(lookup)?.find(key) ?? [],
  }
}

interface PageQuery {
  where?: Readonly<Record<string, string>>
  before?: string | undefined
  limit: number
}

/** One page of records, newest first. */
export function pageOf<T>(records: SortedTree<string, T>, { where = {}, before, limit }: PageQuery): Page<T> {
  const conditions = Object.entries(where).map(([path, wanted]) => ({ path: path.split('.'), wanted }))
  const data: T[] = []
  for (const [, record] of records.entriesReversed(before, [], true)) {
    if (!conditions.every(({ path, wanted }) => fieldAt(record, path) === wanted)) continue
    if (data.length === limit) return { data, more: true }
    data.push(record)
  }
  return { data, more: false }
}

function fieldAt(record: unknown, path: readonly string[]): unknown {
  return path.reduce((at, name) => (at as Record<string, unknown> | null | undefined)?.[name], record)
}
