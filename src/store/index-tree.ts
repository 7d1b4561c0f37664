import type { IndexRule } from './schema.ts'
import { compareText, sortedTree } from './sorted-tree.ts'

/** Records in the order of a key and, under one key, of a rank; kept up to date with every write. */
export interface Index<T> {
  /** Puts `after` in the place of `before`; either may be missing. */
  move(before: T | undefined, after: T | undefined): void
  /** The records under a key. Each walk shows the index as it is then, and copies nothing. */
  find(key: string): Iterable<T>
  /** The keys that name a record, each once, without a walk over what is under them. */
  keys(): Iterable<string>
}

/** A structure and not one joined text, because a POS may put any character into its identifiers. */
interface Place {
  key: string
  rank: string
}

/** Sorts after the rank of every record, which begins with a letter or a digit. */
const LAST_RANK = '\uffff'

export function createIndex<T>({ key, rank }: IndexRule<T>): Index<T> {
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
