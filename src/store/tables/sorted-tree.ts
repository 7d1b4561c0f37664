import { createRequire } from 'node:module'
import type sorted from 'sorted-btree'

type BTree<K, V> = sorted.default<K, V>

/**
 * Node gives a CommonJS package's exports as the default import, a bundler or test runner gives its `default` in their
 * place; `require` means the same everywhere.
 */
const { default: Tree } = createRequire(import.meta.url)('sorted-btree') as typeof sorted

/** A map in the order of its keys. `clone` costs nothing: the copies share what neither has changed since. */
export type SortedTree<K, V> = BTree<K, V>

export function sortedTree<K, V>(compare: (a: K, b: K) => number): SortedTree<K, V> {
  return new Tree<K, V>(undefined, compare)
}

/** By UTF-16 code units, which for identifiers and ISO 8601 times is the order of time. */
export function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}
