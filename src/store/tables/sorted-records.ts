import { compareText, sortedTree, type SortedTree } from './sorted-tree.ts'

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
