import { createRequire } from 'node:module'
import type sorted from 'sorted-btree'

/** Records in order of id, which is the order of creation. */
export interface RecordsInOrder<T> {
  /** Iterates from this id on; by default from the first record. */
  from(id?: string): Iterable<T>
  /** Iterates backwards from this id; by default from the last record. */
  backFrom(id?: string): Iterable<T>
  /** Returns a copy that later writes do not change, in constant time. */
  clone(): RecordsInOrder<T>
}

/** Read access to the records of a table; writes go through the table, which keeps its indexes. */
export interface ReadableRecords<T> extends RecordsInOrder<T> {
  size(): number
  get(id: string): T | undefined
}

export interface SortedRecords<T> extends ReadableRecords<T> {
  /** Inserts or replaces a record; returns the record that it replaced. */
  put(record: T): T | undefined
  /** Removes and returns the record with an id. */
  take(id: string): T | undefined
}

export function createSortedRecords<T extends { id: string }>(): SortedRecords<T> {
  const tree = sortedTree<string, T>(compareText)
  return {
    size: () => tree.size,
    get: (id) => tree.get(id),
    put(record) {
      // Ids increase with time, so most records are new and come last.
      const before = record.id > (tree.maxKey() ?? '') ? undefined : tree.get(record.id)
      tree.set(record.id, record)
      return before
    },
    take(id) {
      const before = tree.get(id)
      tree.delete(id)
      return before
    },
    ...inOrder(tree),
  }
}

function inOrder<T>(tree: SortedTree<string, T>): RecordsInOrder<T> {
  return {
    from: (id) => tree.values(id),
    *backFrom(id) {
      for (const [, record] of tree.entriesReversed(id, [])) yield record
    },
    clone: () => inOrder(tree.clone()),
  }
}

type BTree<K, V> = sorted.default<K, V>

/**
 * Loaded by `require`, because the default import of a CommonJS package is its exports in Node, but its `default` in bundlers
 * and test runners.
 */
const { default: Tree } = createRequire(import.meta.url)('sorted-btree') as typeof sorted

/** A map in order of its keys. `clone` takes constant time: copies share unchanged nodes. */
export type SortedTree<K, V> = BTree<K, V>

export function sortedTree<K, V>(compare: (a: K, b: K) => number): SortedTree<K, V> {
  return new Tree<K, V>(undefined, compare)
}

/** Compares by UTF-16 code units, which orders identifiers and ISO 8601 times by time. */
export function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}
