import { setImmediate } from 'node:timers/promises'
import { createLookup, type Lookup } from './lookup.ts'
import type { KeyOf } from './schema.ts'
import { compareText, sortedTree, type SortedTree } from './sorted-tree.ts'
import type { Order, Page, Search } from './store.ts'

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

/** What is found by the rules, and by `others`, is kept up to date by the table. */
export function createTable<T extends { id: string }>(
  rules: Readonly<Record<string, KeyOf<T>>>,
  others: Readonly<Record<string, Lookup<T>>> = {},
): Table<T> {
  const records = sortedTree<string, T>(compareText)
  const lookups = new Map(Object.entries(others))
  for (const [name, rule] of Object.entries(rules)) lookups.set(name, createLookup(rule))
  const indexes = [...lookups.values()]
  const move = (before: T | undefined, after: T | undefined) => {
    for (const index of indexes) index.move(before, after)
    return before
  }
  return {
    records,
    put(record) {
      // Identifiers go up with time, so most records are new and come last.
      const isLast = record.id > (records.maxKey() ?? '')
      const before = isLast ? undefined : records.get(record.id)
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
  search?: Search | undefined
  order?: Order | undefined
  after?: string | undefined
  limit: number
}

/** Records looked at before others have their turn: about a millisecond's work. */
const SLICE = 2000

/**
 * One page of records as they are now, newest first unless the order is `asc`. When few match, the search goes on in a
 * copy, in slices between which the service goes on.
 */
export async function pageOf<T extends { id: string }>(
  records: SortedTree<string, T>,
  { where = {}, search, order, after, limit }: PageQuery,
): Promise<Page<T>> {
  const data: T[] = []
  const matches = matcherOf(where, search)
  let [tree, last] = [records, after]
  for (;;) {
    let looks = 0
    for (const [id, record] of walk(tree, order, last)) {
      if (id === last) continue
      if (matches(record)) {
        if (data.length === limit) return { data, more: true }
        data.push(record)
      }
      last = id
      if (++looks === SLICE) break
    }
    if (looks < SLICE) return { data, more: false }
    if (tree === records) tree = records.clone()
    await setImmediate()
  }
}

/** From a key on, which may itself be among them. */
function walk<T>(tree: SortedTree<string, T>, order: Order | undefined, key: string | undefined) {
  return order === 'asc' ? tree.entries(key, []) : tree.entriesReversed(key, [])
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
