import { createRequire } from 'node:module'
import type sorted from 'sorted-btree'

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
