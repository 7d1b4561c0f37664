import type { Delivery } from '../../model/delivery.ts'
import type { Write } from '../../model/records.ts'

type Subject = Pick<Delivery, 'id' | 'endpoint_id'>

export type HeldDeliveries = ReturnType<typeof createHeldDeliveries>

/**
 * Deliveries that a fault holds back, at any instance of the sandbox. Those held before the faults were set, or by an
 * earlier process, fall due by the clock.
 */
export function createHeldDeliveries() {
  /** When each falls due, as of its hold; `undefined` until the hold is recorded. */
  const all = new Map<string, { endpointId: string; until: string | null | undefined }>()
  /** Deliveries that wait to be overtaken, by endpoint. */
  const waiting = new Map<string, Set<string>>()

  function add(
    { id, endpoint_id: endpointId }: Subject,
    untilOvertaken: boolean,
    until?: string | null,
  ): void {
    all.set(id, { endpointId, until })
    if (!untilOvertaken) return
    const ids = waiting.get(endpointId) ?? new Set()
    waiting.set(endpointId, ids.add(id))
  }

  function endWaiting(id: string, endpointId: string): void {
    const ids = waiting.get(endpointId)
    if (ids?.delete(id) === true && ids.size === 0) waiting.delete(endpointId)
  }

  function remove(id: string): void {
    const known = all.get(id)
    if (known === undefined) return
    all.delete(id)
    endWaiting(id, known.endpointId)
  }

  return {
    /** Adds a delivery that this instance is about to hold. */
    add: (delivery: Subject, untilOvertaken: boolean) => add(delivery, untilOvertaken),
    /** Must be called for each write of a delivery: another instance may have held, released or attempted it. */
    note(write: Write): void {
      if (write.collection !== 'deliveries') return
      if ('remove' in write) return remove(write.remove)
      const { id, endpoint_id, status, held, offer, next_attempt_at } = write.put
      const known = all.get(id)
      if (status !== 'pending' || offer !== undefined) remove(id)
      else if (held === undefined) {
        if (known?.until !== undefined) remove(id)
      } else if (known === undefined) {
        const waits = held.faults.includes('reorder') && (next_attempt_at ?? '') > held.not_before
        add({ id, endpoint_id }, waits, next_attempt_at)
      } else if (known.until === undefined) known.until = next_attempt_at
      else if (known.until !== next_attempt_at) endWaiting(id, endpoint_id)
    },
    /** Removes and returns the earlier deliveries to the same endpoint; ids sort by time. */
    takeOvertakenBy({ id: later, endpoint_id }: Subject): string[] {
      const ids = waiting.get(endpoint_id)
      if (ids === undefined) return []
      const overtaken = [...ids].filter((id) => id < later)
      for (const id of overtaken) ids.delete(id)
      if (ids.size === 0) waiting.delete(endpoint_id)
      return overtaken
    },
    takeAll(): string[] {
      const ids = [...all.keys()]
      all.clear()
      waiting.clear()
      return ids
    },
    /** Removes and returns those that this instance is about to hold, which the others do not know of. */
    takeUnrecorded(): string[] {
      const ids = [...all].flatMap(([id, { until }]) => (until === undefined ? [id] : []))
      for (const id of ids) remove(id)
      return ids
    },
    /** Removes a delivery whose attempt starts. */
    remove: ({ id }: Subject) => remove(id),
  }
}
