import type { Delivery } from '../../model/delivery.ts'
import { FanOut } from './fan-out.ts'
import {
  type RecordsInOrder,
  type SortedRecords,
  compareText,
  sortedTree,
  type SortedTree,
} from './sorted-records.ts'

/** Deliveries in order of id. Unattempted deliveries of one event are stored as one fan-out. */
export interface DeliveryRecords extends SortedRecords<Delivery> {
  /** Adds deliveries newer than all others ever stored; otherwise changes nothing and returns `false`. */
  add(fanOut: FanOut): boolean
}

/** A fan-out is stored at its first id; no other entry lies between its first and last id. */
type Tree = SortedTree<string, Delivery | FanOut>

export function createDeliveryRecords(): DeliveryRecords {
  const tree: Tree = sortedTree(compareText)
  let newest = ''
  let size = 0
  /** Splits a fan-out at the place of a record, which is left out. */
  const openAt = (id: string, one: Delivery | FanOut | undefined) => {
    if (!(one instanceof FanOut) || id > one.lastId) return
    for (const part of one.around(id)) tree.set(part.firstId, part)
  }
  return {
    size: () => size,
    get: (id) => recordIn(atOrBefore(tree, id), id),
    put(record) {
      const { id } = record
      const isLast = id > newest
      if (isLast) newest = id
      const found = isLast ? undefined : atOrBefore(tree, id)
      const before = recordIn(found, id)
      openAt(id, found)
      tree.set(id, record)
      if (before === undefined) size += 1
      return before
    },
    take(id) {
      const found = atOrBefore(tree, id)
      const before = recordIn(found, id)
      if (before === undefined) return undefined
      openAt(id, found)
      tree.delete(id)
      size -= 1
      return before
    },
    add(fanOut) {
      if (fanOut.firstId <= newest) return false
      tree.set(fanOut.firstId, fanOut)
      newest = fanOut.lastId
      size += fanOut.ids.length
      return true
    },
    ...inOrder(tree),
  }
}

function atOrBefore(tree: Tree, id: string): Delivery | FanOut | undefined {
  return tree.getPairOrNextLower(id)?.[1]
}

function recordIn(one: Delivery | FanOut | undefined, id: string): Delivery | undefined {
  if (one instanceof FanOut) return one.find(id)
  return one?.id === id ? one : undefined
}

function inOrder(tree: Tree): RecordsInOrder<Delivery> {
  return {
    *from(id = '') {
      for (const one of tree.values(tree.getPairOrNextLower(id)?.[0]))
        for (const delivery of one instanceof FanOut ? one : [one]) if (delivery.id >= id) yield delivery
    },
    *backFrom(id) {
      for (const [, one] of tree.entriesReversed(id, []))
        for (const delivery of one instanceof FanOut ? one.backwards() : [one])
          if (id === undefined || delivery.id <= id) yield delivery
    },
    clone: () => inOrder(tree.clone()),
  }
}
