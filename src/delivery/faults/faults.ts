import type { Delivery } from '../../model/delivery.ts'
import type { Write } from '../../model/records.ts'
import type { ActiveFaults } from '../../model/simulator/fault-rules.ts'
import { holdDelivery, releaseDeliveries } from '../../operations/pending-deliveries.ts'
import type { Service } from '../../service.ts'
import type { FaultPlan } from './fault-plan.ts'
import { createFaultSequence, type FaultSequence } from './fault-sequence.ts'

/** Fault injection for deliveries (contract section 10). */
export interface DeliveryFaults {
  /**
   * Must be called at the instance that replaced the faults. Resolves when they apply to all pending deliveries. Without
   * faults, releases all held deliveries.
   */
  replaced(): Promise<void>
  /** Plans the faults of the attempt that is about to start; `undefined` for none. Pings get no faults. */
  planFor(delivery: Delivery): Promise<FaultPlan | undefined> | FaultPlan | undefined
  /** Holds the attempt back durably; it falls due by the clock. `generation` is that of the delivery's records. */
  hold(delivery: Delivery, plan: FaultPlan, generation: number): Promise<Delivery | undefined>
  /**
   * Releases the held deliveries that this delivery, which its receiver has seen, has overtaken. When this fails, the next
   * delivery to the endpoint releases them, or they fall due by the clock.
   */
  releaseOvertaken(delivery: Delivery): Promise<void> | undefined
}

export function createDeliveryFaults(
  service: Pick<Service, 'execute' | 'list' | 'onCommit'>,
  faults: ActiveFaults,
): DeliveryFaults {
  const held = createHeldDeliveries()
  let sequence: FaultSequence | undefined
  let begun: Promise<void> = Promise.resolve()

  function begin(): void {
    sequence?.close()
    const isActive = faults.now().deliveries.length > 0
    sequence = isActive ? createFaultSequence(service, faults, held) : undefined
    begun = addPending(sequence)
    // A sequence without the earlier deliveries numbers them when they are attempted.
    begun.catch(() => {})
    // The instance that cleared the faults releases all others. When this fails, they fall due by the clock.
    if (sequence === undefined) release(held.takeUnrecorded()).catch(() => {})
  }

  async function release(delivery_ids: readonly string[]): Promise<void> {
    if (delivery_ids.length > 0) await service.execute(releaseDeliveries, { delivery_ids, at_once: true })
  }

  async function addPending(to: FaultSequence | undefined): Promise<void> {
    if (to !== undefined) to.addPending(await pendingOf(service))
  }

  begin()
  faults.onReplaced(begin)
  return {
    async replaced() {
      await begun
      if (sequence !== undefined) return
      // Without faults, those of an earlier process or of a loaded state are known to the store only.
      const stored = (await pendingOf(service)).filter((delivery) => delivery.held !== undefined)
      await release([...new Set([...held.takeAll(), ...stored.map(({ id }) => id)])])
    },
    planFor(delivery) {
      if (delivery.held === undefined) return sequence?.planFor(delivery)
      held.remove(delivery)
      return resumedPlan(delivery.held)
    },
    hold({ id: delivery_id, endpoint_id, attempts }, { faults: kinds, delay_ms, reorder_ms }, generation) {
      held.add({ id: delivery_id, endpoint_id }, reorder_ms > 0)
      return service.execute(holdDelivery, {
        delivery_id,
        attempt: attempts.length + 1,
        generation,
        faults: kinds,
        delay_ms,
        reorder_ms,
      })
    },
    releaseOvertaken(delivery) {
      const delivery_ids = held.takeOvertakenBy(delivery)
      if (delivery_ids.length === 0) return undefined
      return service
        .execute(releaseDeliveries, { delivery_ids, at_once: false })
        .catch(() => held.waitAgain(delivery, delivery_ids))
    },
  }
}

/** Restores the plan of a held attempt, which does not depend on the faults that are set by now. */
function resumedPlan({ faults, since }: NonNullable<Delivery['held']>): FaultPlan {
  return { faults, holds: false, delay_ms: 0, reorder_ms: 0, heldSince: since, injected: [] }
}

async function pendingOf(service: Pick<Service, 'list'>): Promise<readonly Delivery[]> {
  const query = { where: { status: 'pending' }, limit: Number.MAX_SAFE_INTEGER }
  return (await service.list('deliveries', query)).data.toReversed()
}

type Subject = Pick<Delivery, 'id' | 'endpoint_id'>

/**
 * Deliveries that a fault holds back, at any instance of the sandbox. It learns of them while faults are set; then
 * `addPending` adds those that were held before.
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
    if (untilOvertaken) beginWaiting(id, endpointId)
  }

  function beginWaiting(id: string, endpointId: string): void {
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
    /** Makes deliveries that are still held wait to be overtaken again. */
    waitAgain({ endpoint_id }: Subject, ids: readonly string[]): void {
      for (const id of ids) if (all.has(id)) beginWaiting(id, endpoint_id)
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
