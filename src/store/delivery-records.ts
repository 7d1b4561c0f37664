import type { Delivery } from '../model/delivery.ts'
import { FanOut } from './fan-out.ts'
import type { RecordsInOrder, SortedRecords } from './sorted-records.ts'
import { compareText, sortedTree, type SortedTree } from './sorted-tree.ts'

/** Deliveries in order; those of an event, as long as nothing becomes of them, as one. */
export interface DeliveryRecords extends SortedRecords<Delivery> {
  /** Adds deliveries that come after all that there ever were. Any others it leaves alone, and returns `false`. */
  add(fanOut: FanOut): boolean
}

/** A fan-out stands at its first id; between that and its last one there is nothing else. */
type Tree = SortedTree<string, Delivery | FanOut>

export function createDeliveryRecords(): DeliveryRecords {
  const tree: Tree = sortedTree(compareText)
  let newest = ''
  let size = 0
  const get = (id: string) => {
    const found = atOrBefore(tree, id)
    if (found instanceof FanOut) return found.find(id)
    return found?.id === id ? found : undefined
  }
  /** Makes room for a record with this id, or for none. */
  const clear = (id: string) => {
    const found = atOrBefore(tree, id)
    if (found instanceof FanOut && id <= found.lastId) {
      tree.delete(found.firstId)
      for (const part of found.around(id)) tree.set(part.firstId, part)
    } else tree.delete(id)
  }
  return {
    size: () => size,
    get,
    put(record) {
      const { id } = record
      const isLast = id > newest
      const before = isLast ? undefined : get(id)
      if (isLast) newest = id
      else clear(id)
      tree.set(id, record)
      if (before === undefined) size += 1
      return before
    },
    take(id) {
      const before = get(id)
      if (before === undefined) return undefined
      clear(id)
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
