import { sortedTree, type SortedTree } from './sorted-records.ts'

/** Ordered list, optimised for append at the tail and removal near the head. */
export interface OrderedList<T> {
  put(record: T): void
  take(record: T): void
  values(): Iterator<T>
  isEmpty(): boolean
}

export interface OrderedListRule<T> {
  /** Negative when the first comes before the second; 0 only for versions of the same record. */
  compare(one: T, other: T): number
  /** True for a new record, which usually comes last. */
  isFresh(record: T): boolean
}

/** Removed places at the start of the array before it is copied. */
const MAX_GAP = 64

export function createOrderedList<T>({ compare, isFresh }: OrderedListRule<T>): OrderedList<T> {
  /** Fresh records in order; those before `head` are removed. */
  let fresh: T[] = []
  let head = 0
  /** All other records, such as retried deliveries, which are inserted anywhere. */
  let others: SortedTree<T, T> | undefined

  /** Returns the place of a fresh record, or where it would be. Searches from the head in doubling steps. */
  const placeOf = (record: T): number => {
    const isBefore = (place: number) => compare(fresh[place] as T, record) < 0
    let low = head
    let step = 1
    for (; low + step <= fresh.length && isBefore(low + step - 1); step *= 2) low += step
    let high = Math.min(low + step, fresh.length)
    while (low < high) {
      const middle = (low + high) >>> 1
      if (isBefore(middle)) low = middle + 1
      else high = middle
    }
    return low
  }
  const takeFresh = (record: T): boolean => {
    const place = placeOf(record)
    if (place === fresh.length || compare(fresh[place] as T, record) !== 0) return false
    for (let at = place; at > head; at--) fresh[at] = fresh[at - 1] as T
    head += 1
    if (head > MAX_GAP && head > fresh.length / 2) {
      fresh = fresh.slice(head)
      head = 0
    }
    return true
  }
  return {
    put(record) {
      const last = fresh.length === head ? undefined : (fresh.at(-1) as T)
      if (isFresh(record) && (last === undefined || compare(last, record) < 0)) fresh.push(record)
      else (others ??= sortedTree<T, T>(compare)).set(record, record)
    },
    take(record) {
      if (!takeFresh(record)) others?.delete(record)
    },
    *values() {
      const tried = others?.values()[Symbol.iterator]()
      let next = tried?.next()
      for (let at = head; at < fresh.length; at++) {
        const record = fresh[at] as T
        for (; next?.done === false && compare(next.value, record) < 0; next = tried?.next()) yield next.value
        yield record
      }
      for (; next?.done === false; next = tried?.next()) yield next.value
    },
    isEmpty: () => fresh.length === head && others?.isEmpty !== false,
  }
}
