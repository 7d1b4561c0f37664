import { createOrderedList, type OrderedList, type OrderedListRule } from './ordered-list.ts'
import type { KeyIndex } from './key-index.ts'

/** Records in queues: one for each key, each in its order. Only its heads are looked at, however long it is. */
export interface DueIndex<T> extends KeyIndex<T> {
  /** The records of a queue from its head on. Each walk shows it as it is then, and copies nothing. */
  find(key: string): Iterable<T>
  /** The keys of the queues that are not empty, without a walk over what is in them. */
  keys(): Iterable<string>
}

export interface DueIndexRule<T> extends OrderedListRule<T> {
  /** Which queue a record stands in, if any. */
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
