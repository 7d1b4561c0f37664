import type { Lookup } from './lookup.ts'
import { compareText, sortedTree } from './sorted-tree.ts'

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

interface Place {
  key: string
  rank: string
}

/** Sorts after the rank of every record, which begins with a letter or a digit. */
const LAST_RANK = '\uffff'

export function createQueue<T>({ key, rank }: QueueRule<T>): Queue<T> {
  const tree = sortedTree<Place, T>(comparePlaces)
  const placeOf = (record: T | undefined): Place | undefined => {
    const found = record === undefined ? null : key(record)
    return found === null ? undefined : { key: found, rank: rank(record as T) }
  }
  return {
    move(before, after) {
      const from = placeOf(before)
      const to = placeOf(after)
      if (from !== undefined && (to === undefined || comparePlaces(from, to) !== 0)) tree.delete(from)
      if (to !== undefined) tree.set(to, after as T)
    },
    find: (wanted) => ({
      *[Symbol.iterator]() {
        for (const [place, record] of tree.entries({ key: wanted, rank: '' }, [])) {
          if (place.key !== wanted) return
          yield record
        }
      },
    }),
    *keys() {
      for (let at = tree.minKey(); at; at = tree.nextHigherKey({ key: at.key, rank: LAST_RANK })) yield at.key
    },
  }
}

function comparePlaces(a: Place, b: Place): number {
  return compareText(a.key, b.key) || compareText(a.rank, b.rank)
}
