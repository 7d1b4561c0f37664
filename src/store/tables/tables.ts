import { timers } from '../../timers.ts'
import {
  put,
  remove,
  type Reads,
  type CollectionName,
  type Collections,
  type Everything,
  type ReadResults,
  type Write,
} from '../../model/records.ts'
import type { Changes } from '../snapshot/changes.ts'
import { DueIndex } from './due.ts'
import type { Due, DueQuery, Unfinished, UnfinishedQuery } from '../store.ts'
import { createTable, indexRules, type RecordsInOrder, type RecordTable } from './table.ts'

/** All records in memory, from which all stores answer. The cost of a write does not depend on their number. */
export interface Tables {
  of<C extends CollectionName>(collection: C): RecordTable<Collections[C]>
  /** Returns the records that a transaction reads; iterables are valid while it decides. */
  read<A extends Reads>(reads: A): ReadResults<A>
  /** Applies writes in order and returns the writes that undo them, in order of application. */
  apply(writes: readonly Write[]): readonly Write[]
  due(query: DueQuery): Due
  unfinished(query: UnfinishedQuery): Unfinished
  /** Returns a copy of the records that later writes do not change, in constant time. */
  copy(): RecordCopies
  all(): Everything
  /** Indexes a replacement of all records, in slices between which other requests run. */
  prepare(records: Everything): Promise<Prepared>
}

/** A replacement of all records. */
interface Prepared {
  records: RecordCopies
  /** Installs the records at once, without calls of `onPut`. */
  install: () => void
}

/** All records, by collection, in order. */
export type RecordCopies = { readonly [C in CollectionName]: RecordsInOrder<Collections[C]> }

/** All collections, in the order of the snapshot. */
export const collectionNames = Object.keys(indexRules) as CollectionName[]

/** Creates empty tables. `onPut` is called for each record that a write puts, with whether it is new. */
export function createTables(onPut: Changes['put'] = () => {}): Tables {
  let tables = emptyTables()
  return {
    of: (collection) => (tables as TableOf)[collection],
    read(reads) {
      const results: Record<string, unknown> = {}
      for (const [name, one] of Object.entries(reads)) {
        const table = tables[one.collection]
        results[name] = 'id' in one ? table.records.get(one.id) : table.find(one.index, one.key)
      }
      return results as ReadResults<typeof reads>
    },
    apply(writes) {
      const undoing: Write[] = []
      for (const write of writes) {
        const { collection } = write
        const table = tables[collection] as RecordTable<Collections[CollectionName]>
        const id = 'put' in write ? write.put.id : write.remove
        const before = 'put' in write ? table.put(write.put) : table.remove(id)
        undoing.push(before === undefined ? remove(collection, id) : put(collection, before))
        if ('put' in write) onPut(collection, id, before === undefined)
      }
      return undoing.reverse()
    },
    due: (query) => tables.due.due(query),
    unfinished: (query) => tables.due.unfinished(query),
    copy: () => copyOf(tables),
    all: () =>
      Object.fromEntries(
        collectionNames.map((name) => [name, [...tables[name].records.values()]]),
      ) as unknown as Everything,
    async prepare(records) {
      const prepared = emptyTables()
      for (const name of collectionNames) await putAll(prepared[name], records[name])
      return { records: copyOf(prepared), install: () => void (tables = prepared) }
    },
  }
}

type TableOf = { readonly [C in CollectionName]: RecordTable<Collections[C]> }
type AllTables = TableOf & { readonly due: DueIndex }

function copyOf(tables: AllTables): RecordCopies {
  return Object.fromEntries(
    collectionNames.map((name) => [name, tables[name].records.clone()]),
  ) as unknown as RecordCopies
}

function emptyTables(): AllTables {
  const due = new DueIndex()
  return {
    due,
    locations: createTable(indexRules.locations),
    keys: createTable(indexRules.keys),
    checks: createTable(indexRules.checks),
    claims: createTable(indexRules.claims),
    payments: createTable(indexRules.payments),
    feedback: createTable(indexRules.feedback),
    endpoints: createTable(indexRules.endpoints),
    events: createTable(indexRules.events),
    deliveries: createTable(indexRules.deliveries, { pending_of: due }),
  }
}

/** Records put per turn of the event loop, a few milliseconds of work. */
const SLICE = 2000

async function putAll<C extends CollectionName>(
  table: RecordTable<Collections[C]>,
  records: Everything[C],
): Promise<void> {
  for (const [index, record] of records.entries()) {
    if (index % SLICE === SLICE - 1) await timers.nextTurn()
    table.put(record)
  }
}
