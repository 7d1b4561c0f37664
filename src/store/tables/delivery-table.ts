import type { Delivery } from '../../model/delivery.ts'
import { createDeliveryRecords, type DeliveryRecords } from './delivery-records.ts'
import { findDue, findUnfinished } from './due.ts'
import { deliveryOf, type FanOut, type Waiting } from './fan-out.ts'
import type { KeyIndex } from './key-index.ts'
import { createDueIndex, type DueIndex } from './due-index.ts'
import { dueIndexRule } from './schema.ts'
import { compareText } from './sorted-records.ts'
import type { Due, DueQuery, Unfinished, UnfinishedQuery } from '../store.ts'
import { tableOf, type Table } from './table.ts'

/** The table of deliveries, with an index by event and the due index of pending ones. */
export interface DeliveryTable extends Table<Delivery> {
  /** Adds deliveries newer than all others ever stored; otherwise changes nothing and returns `false`. */
  add(fanOut: FanOut): boolean
  due(query: DueQuery): Due
  unfinished(query: UnfinishedQuery): Unfinished
}

export function createDeliveryTable(): DeliveryTable {
  const records = createDeliveryRecords()
  const dueIndex = createDueIndex<Delivery | Waiting>(dueIndexRule)
  const events = createEventIndex(records)
  const table = tableOf<Delivery>(
    records,
    new Map([
      ['event', events],
      ['pending_of', oldestFirst(dueIndex)],
    ]),
  )
  return {
    ...table,
    add(fanOut) {
      if (!records.add(fanOut)) return false
      events.add(fanOut)
      for (const waiting of fanOut.waiting()) dueIndex.move(undefined, waiting)
      return true
    },
    due: (query) => findDue(dueIndex, query),
    unfinished: (query) => findUnfinished(dueIndex, query),
  }
}

/** The due index as a key index in order of id, sorted on iteration. */
function oldestFirst({ move, find }: DueIndex<Delivery | Waiting>): KeyIndex<Delivery> {
  const sorted = (key: string) => [...find(key)].sort((a, b) => compareText(a.id, b.id)).map(deliveryOf)
  return { move, find: (key) => ({ [Symbol.iterator]: () => sorted(key).values() }) }
}

/** Index of delivery ids by event. Shares the list of a fan-out until it changes. */
function createEventIndex({ get }: Pick<DeliveryRecords, 'get'>) {
  const found = new Map<string, readonly string[]>()
  const add = (event: string, ids: readonly string[]) => {
    const there = found.get(event)
    found.set(event, there === undefined ? ids : [...there, ...ids].sort(compareText))
  }
  const take = (event: string, id: string) => {
    const left = found.get(event)?.filter((one) => one !== id) ?? []
    if (left.length === 0) found.delete(event)
    else found.set(event, left)
  }
  function* deliveriesOf(ids: readonly string[]): Generator<Delivery, void> {
    for (const id of ids) {
      const delivery = get(id)
      if (delivery !== undefined) yield delivery
    }
  }
  return {
    add: ({ eventId, ids }: FanOut) => add(eventId, ids),
    move(before: Delivery | undefined, after: Delivery | undefined) {
      if (before?.event_id === after?.event_id) return
      if (before !== undefined) take(before.event_id, before.id)
      if (after !== undefined) add(after.event_id, [after.id])
    },
    find: (event: string) => ({ [Symbol.iterator]: () => deliveriesOf(found.get(event) ?? []) }),
  } satisfies KeyIndex<Delivery> & { add(fanOut: FanOut): void }
}
