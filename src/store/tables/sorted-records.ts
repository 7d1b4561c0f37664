import { compareText, sortedTree, type SortedTree } from './sorted-tree.ts'

/** Records in the order of their identifiers, which is that of their making. */
export interface RecordsInOrder<T> {
  /** From the one with this id on, or where it would be; by default from the first. */
  from(id?: string): Iterable<T>
  /** The same backwards, by default from the last. */
  backFrom(id?: string): Iterable<T>
  /** A copy that later writes do not change, made in no time. */
  clone(): RecordsInOrder<T>
}

/** What may be asked of the records of a table, whose lookups follow its own writes alone. */
export interface ReadableRecords<T> extends RecordsInOrder<T> {
  size(): number
  get(id: string): T | undefined
}

export interface SortedRecords<T> extends ReadableRecords<T> {
  /** Puts a record in the place of the one with its id, which is returned. */
  put(record: T): T | undefined
  /** Takes away and returns the record with an id. */
  take(id: string): T | undefined
}

export function createSortedRecords<T extends { id: string }>(): SortedRecords<T> {
  const tree = sortedTree<string, T>(compareText)
  return {
    size: () => tree.size,
    get: (id) => tree.get(id),
    put(record) {
      // Identifiers go up with time, so most records are new and come last.
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
