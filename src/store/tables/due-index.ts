import { createOrderedList, type OrderedList, type OrderedListRule } from './ordered-list.ts'
import type { KeyIndex } from './key-index.ts'

/** Index of ordered lists by key, whose heads can be read without walking the rest. */
export interface DueIndex<T> extends KeyIndex<T> {
  /** Returns the records under a key from the head on, without copying; each iteration sees the current records. */
  find(key: string): Iterable<T>
  /** Returns the keys that have records. */
  keys(): Iterable<string>
}

export interface DueIndexRule<T> extends OrderedListRule<T> {
  /** Returns the key of a record; `null` when it is not indexed. */
  key(record: T): string | null
}

export function createDueIndex<T>(rule: DueIndexRule<T>): DueIndex<T> {
  const queues = new Map<string, OrderedList<T>>()
  const put = (to: string, record: T) => {
    const queue = queues.get(to) ?? createOrderedList(rule)
    queue.put(record)
    queues.set(to, queue)
  }
  const take = (from: string, record: T) => {
    const queue = queues.get(from)
    queue?.take(record)
    if (queue?.isEmpty() === true) queues.delete(from)
  }
  return {
    move(before, after) {
      const from = before === undefined ? null : rule.key(before)
      const to = after === undefined ? null : rule.key(after)
      if (before !== undefined && from !== null) take(from, before)
      if (after !== undefined && to !== null) put(to, after)
    },
    find: (wanted) => ({ [Symbol.iterator]: () => queues.get(wanted)?.values() ?? [].values() }),
    keys: () => queues.keys(),
  }
}
