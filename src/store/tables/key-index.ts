/** Records found by a key other than their id; kept up to date with every write, at a cost that does not grow. */
export interface KeyIndex<T> {
  /** Puts `after` in the place of `before`; either may be missing. */
  move(before: T | undefined, after: T | undefined): void
  /** The records under a key, oldest first. Nothing is copied, so a walk is good until the next write. */
  find(key: string): Iterable<T>
}

/** What is under one key: as a rule one record, kept as it is; else all of them, oldest first. */
type Found<T extends { id: string }> = T | Many<T>

/** A list, since there are a few, as many as a check has claims or an event deliveries. */
class Many<T extends { id: string }> {
  readonly records: T[] = []

  /** Identifiers sort by the time of their making: only a clock that was set back brings one out of order. */
  set(record: T): this {
    const { records } = this
    let at = records.length
    while (at > 0 && (records[at - 1]?.id ?? '') > record.id) at--
    const isThere = records[at - 1]?.id === record.id
    if (isThere) records[at - 1] = record
    else records.splice(at, 0, record)
    return this
  }

  delete(id: string): void {
    const at = this.records.findIndex((record) => record.id === id)
    if (at !== -1) this.records.splice(at, 1)
  }
}

/** `keyOf` names the key under which a record is found, or `null` when it is not. */
export function createKeyIndex<T extends { id: string }>(keyOf: (record: T) => string | null): KeyIndex<T> {
  const found = new Map<string, Found<T>>()
  const insert = (key: string, record: T) => {
    const there = found.get(key)
    if (there === undefined || (!(there instanceof Many) && there.id === record.id)) found.set(key, record)
    else if (there instanceof Many) there.set(record)
    else found.set(key, new Many<T>().set(there).set(record))
  }
  const take = (key: string, { id }: T) => {
    const there = found.get(key)
    if (there instanceof Many) there.delete(id)
    if (!(there instanceof Many) || there.records.length === 0) found.delete(key)
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
      return there instanceof Many ? there.records : [there]
    },
  }
}
