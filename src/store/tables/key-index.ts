import { checkKey } from '../../model/check.ts'
import type { OfCheck } from '../../model/guests/claim.ts'
import type { CollectionName, Collections, Lookups } from '../../model/records.ts'
/** Index of records by a key other than their id, updated with every write at constant cost. */
export interface KeyIndex<T> {
  /** Replaces `before` by `after`; either may be missing. */
  move(before: T | undefined, after: T | undefined): void
  /** Returns the records under a key, oldest first, without copying: valid until the next write. */
  find(key: string): Iterable<T>
}

/** The records under one key: usually a single record, else a list. */
type Found<T extends { id: string }> = T | Many<T>

/** A short list of records, oldest first, such as the claims of a check. */
class Many<T extends { id: string }> {
  readonly records: T[] = []

  /** Inserts a record by id. Ids sort by creation time, so it comes last unless the clock was set back. */
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

/** Creates an index; `keyOf` returns the key of a record, or `null` when it is not indexed. */
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

/** Returns the key of a record in an index; `null` when it is not indexed. */
export type KeyOf<T> = (record: T) => string | null

type Rules<C extends CollectionName> = Readonly<Record<Lookups[C], KeyOf<Collections[C]>>>

/** The indexes of each collection, beside the due index of deliveries. */
export const lookups: { readonly [C in CollectionName]: Omit<Rules<C>, 'pending_of'> } = {
  locations: { all: () => '' },
  keys: { hash: ({ hash }) => hash },
  checks: { external: checkKey },
  claims: { check: keyOfItsCheck },
  payments: { check: keyOfItsCheck },
  feedback: { check: keyOfItsCheck },
  endpoints: { status: ({ status }) => status },
  events: {},
  deliveries: { event: ({ event_id }) => event_id },
}

function keyOfItsCheck({ location_id, external_check_id }: Omit<OfCheck, 'check_id'>): string {
  return checkKey({ location_id, external_id: external_check_id })
}
