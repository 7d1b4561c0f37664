import type { Delivery } from '../model/delivery.ts'

type Subject = Pick<Delivery, 'id' | 'endpoint_id'>

/** The deliveries that this process has held back. Those of an earlier one fall due by themselves. */
export function createHeld() {
  const all = new Set<string>()
  /** Those that wait to be overtaken, by endpoint. */
  const waiting = new Map<string, Set<string>>()
  return {
    add({ id, endpoint_id }: Subject, untilOvertaken: boolean): void {
      all.add(id)
      if (!untilOvertaken) return
      const ids = waiting.get(endpoint_id) ?? new Set()
      waiting.set(endpoint_id, ids.add(id))
    },
    /** A later delivery overtakes the earlier ones that go to the same endpoint; identifiers sort by time. */
    takeOvertakenBy({ id: later, endpoint_id }: Subject): string[] {
      const ids = waiting.get(endpoint_id)
      if (ids === undefined) return []
      const overtaken = [...ids].filter((id) => id < later)
      for (const id of overtaken) ids.delete(id)
      if (ids.size === 0) waiting.delete(endpoint_id)
      return overtaken
    },
    takeAll(): string[] {
      const ids = [...all]
      all.clear()
      waiting.clear()
      return ids
    },
    /** It is on its way. */
    forget({ id, endpoint_id }: Subject): void {
      all.delete(id)
      const ids = waiting.get(endpoint_id)
      if (ids?.delete(id) === true && ids.size === 0) waiting.delete(endpoint_id)
    },
  }
}
