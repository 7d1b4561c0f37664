import type { Lookup } from './lookup.ts'
import { compareText, sortedTree, type SortedTree } from './sorted-tree.ts'

/** Records in queues: one for each key, in the order of a rank. Only its heads are looked at, however long it is. */
export interface Queue<T> extends Lookup<T> {
  /** The records of a queue from its head on. Each walk shows it as it is then, and copies nothing. */
  find(key: string): Iterable<T>
  /** The keys of the queues that are not empty, without a walk over what is in them. */
  keys(): Iterable<string>
}

export interface QueueRule<T> {
  /** Which queue a record stands in, if any. */
  key(record: T): string | null
  /** Its place there. */
  rank(record: T): string
}

export function createQueue<T>({ key, rank }: QueueRule<T>): Queue<T> {
  const queues = new Map<string, SortedTree<string, T>>()
  const put = (to: string, record: T) => {
    const queue = queues.get(to) ?? sortedTree<string, T>(compareText)
    queue.set(rank(record), record)
    queues.set(to, queue)
  }
  const take = (from: string, record: T) => {
    const queue = queues.get(from)
    queue?.delete(rank(record))
    if (queue?.isEmpty === true) queues.delete(from)
  }
  return {
    move(before, after) {
      const from = before === undefined ? null : key(before)
      const to = after === undefined ? null : key(after)
      const stays = before !== undefined && after !== undefined && from === to && rank(before) === rank(after)
      if (before !== undefined && from !== null && !stays) take(from, before)
      if (after !== undefined && to !== null) put(to, after)
    },
    find: (wanted) => ({ [Symbol.iterator]: () => queues.get(wanted)?.values() ?? [].values() }),
    keys: () => queues.keys(),
  }
}
