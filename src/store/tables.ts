import {
  put,
  remove,
  type Ask,
  type Asks,
  type CollectionName,
  type Collections,
  type Everything,
  type GivenAll,
  type Put,
  type Removal,
  type Write,
} from '../model/records.ts'
import type { Changes } from './changes.ts'
import { createDeliveryTable } from './delivery-table.ts'
import { FanOut, type FannedWrite } from './fan-out.ts'
import { lookups } from './schema.ts'
import type { RecordsInOrder } from './sorted-records.ts'
import type { Due, DueQuery, Unfinished, UnfinishedQuery } from './store.ts'
import { createTable, type Table } from './table.ts'

/** Everything that is stored, in memory: what both stores answer from. The cost of a write does not grow with it. */
export interface Tables {
  of<C extends CollectionName>(collection: C): Table<Collections[C]>
  /** What a transaction asked for; the iterables are good while it decides. */
  give<A extends Asks>(asks: A): GivenAll<A>
  /** Applies writes in order and returns those that undo them, to be applied in order too. */
  apply(writes: readonly FannedWrite[]): readonly Write[]
  due(query: DueQuery): Due
  unfinished(query: UnfinishedQuery): Unfinished
  /** A copy of the records that later writes do not change, made in no time. */
  copy(): RecordCopies
  all(): Everything
}

/** All records, by collection, in order. */
export type RecordCopies = { readonly [C in CollectionName]: RecordsInOrder<Collections[C]> }

/** In the order in which the snapshot has them. */
export const collectionNames = [...Object.keys(lookups), 'deliveries'] as CollectionName[]

/**
 * `onPut` is told of every record that a write puts, and whether none was in its place; of a fan-out, whose ids go up, of
 * the first alone.
 */
export function createTables(onPut: Changes['put'] = () => {}): Tables {
  const deliveries = createDeliveryTable()
  const tables: { readonly [C in CollectionName]: Table<Collections[C]> } = {
    locations: createTable(lookups.locations),
    keys: createTable(lookups.keys),
    checks: createTable(lookups.checks),
    claims: createTable(lookups.claims),
    payments: createTable(lookups.payments),
    feedback: createTable(lookups.feedback),
    endpoints: createTable(lookups.endpoints),
    events: createTable(lookups.events),
    deliveries,
  }
  const given = (ask: Ask) => {
    const table = tables[ask.collection]
    return 'id' in ask ? table.records.get(ask.id) : table.find(ask.lookup, ask.key)
  }
  const apply = (write: Write, undoing: Write[]) => {
    const undo = applyTo(tables[write.collection], write)
    undoing.push(undo)
    if ('put' in write) onPut(write.collection, write.put.id, 'remove' in undo)
  }
  const addAll = (fanOut: FanOut, undoing: Write[]) => {
    if (deliveries.add(fanOut)) {
      for (const id of fanOut.ids) undoing.push(remove('deliveries', id))
      onPut('deliveries', fanOut.firstId, true)
    } else for (const delivery of fanOut) apply(put('deliveries', delivery), undoing)
  }
  return {
    of: (collection) => tables[collection],
    give: (asks) => mapped(asks, given) as GivenAll<typeof asks>,
    apply(writes) {
      const undoing: Write[] = []
      for (const write of writes)
        if (write instanceof FanOut) addAll(write, undoing)
        else apply(write, undoing)
      return undoing.reverse()
    },
    due: deliveries.due,
    unfinished: deliveries.unfinished,
    copy: () => mapped(tables, ({ records }) => records.clone()) as RecordCopies,
    all: () => mapped(tables, ({ records }) => [...records.from()]) as Everything,
  }
}

/** Applies one write and returns the one that undoes it. */
function applyTo<C extends CollectionName>(table: Table<Collections[C]>, write: Put<C> | Removal<C>): Write {
  const id = 'put' in write ? write.put.id : write.remove
  const before = 'put' in write ? table.put(write.put) : table.remove(id)
  return before === undefined ? remove(write.collection, id) : put(write.collection, before)
}

function mapped<T>(object: Readonly<Record<string, T>>, change: (value: T) => unknown): unknown {
  const result: Record<string, unknown> = {}
  for (const name in object) result[name] = change(object[name] as T)
  return result
}
