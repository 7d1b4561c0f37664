import { compareText } from './sorted-tree.ts'

/** Records found by a key other than their id; kept up to date with every write, at a cost that does not grow. */
export interface Lookup<T> {
  /** Puts `after` in the place of `before`; either may be missing. */
  move(before: T | undefined, after: T | undefined): void
  /** The records under a key, oldest first. Nothing is copied, so a walk is good until the next write. */
  find(key: string): Iterable<T>
}

/** What is under one key: as a rule one record, kept as it is; else all of them by id, in the order of their coming. */
type Found<T extends { id: string }> = T | Many<T>

class Many<T extends { id: string }> {
  readonly records = new Map<string, T>()
  private last = ''
  private inOrder = true

  /** Identifiers sort by the time of their making: only a clock that was set back brings one out of order. */
  set(record: T): this {
    if (!this.records.has(record.id)) {
      this.inOrder &&= record.id > this.last
      this.last = record.id
    }
    this.records.set(record.id, record)
    return this
  }

  oldestFirst(): Iterable<T> {
    // Not the map's own iterator, which can be walked once.
    if (this.inOrder) return { [Symbol.iterator]: () => this.records.values() }
    return [...this.records.values()].sort((a, b) => compareText(a.id, b.id))
  }
}

/** `keyOf` names the key under which a record is found, or `null` when it is not. */
export function createLookup<T extends { id: string }>(keyOf: (record: T) => string | null): Lookup<T> {
  const found = new Map<string, Found<T>>()
  const insert = (key: string, record: T) => {
    const there = found.get(key)
    if (there === undefined || (!(there instanceof Many) && there.id === record.id)) found.set(key, record)
    else if (there instanceof Many) there.set(record)
    else found.set(key, new Many<T>().set(there).set(record))
  }
  const take = (key: string, { id }: T) => {
    const there = found.get(key)
    if (there instanceof Many) there.records.delete(id)
    if (!(there instanceof Many) || there.records.size === 0) found.delete(key)
  }
  return {
    move(before, after) {
      const from = before === undefined ? null : keyOf(before)
      const to = after === undefined ? null : keyOf(after)
      if (before !== undefined && from !== null && from !== to) take(from, before)
      if (after !== undefined && to !== null) insert(to, after)
    },
    find(key) {
      const there = found.get(key)
      if (there === undefined) return []
      return there instanceof Many ? there.oldestFirst() : [there]
    },
  }
}
