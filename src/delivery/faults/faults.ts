import type { Delivery } from '../../model/delivery.ts'
import type { DeliveryFault } from '../../model/simulator/fault.ts'
import { count, rulesOf, viewRule, type FaultRule } from '../../model/simulator/fault-rules.ts'
import { holdDelivery, releaseDeliveries } from '../../operations/hold-delivery.ts'
import type { Service } from '../../service.ts'
import type { FaultPlan } from './fault-plan.ts'
import { createFaultSequence, type FaultSequence } from './fault-sequence.ts'

/** Fault injection for deliveries (contract section 10). */
export interface DeliveryFaults {
  /** Replaces the faults. An empty list releases all held deliveries. */
  set(faults: readonly DeliveryFault[], seed: number): Promise<void>
  show(): readonly DeliveryFault[]
  /** Plans the faults of the attempt that is about to start; `undefined` for none. Pings get no faults. */
  planFor(delivery: Delivery): FaultPlan | undefined
  /** Holds the attempt back durably; it falls due by the clock. */
  hold(delivery: Delivery, plan: FaultPlan): Promise<Delivery | undefined>
  /** Releases the held deliveries that this delivery, which its receiver has seen, has overtaken. */
  releaseOvertaken(delivery: Delivery): Promise<void> | undefined
}

type Rules = readonly FaultRule<DeliveryFault>[]

export function createDeliveryFaults(
  service: Pick<Service, 'execute' | 'list' | 'onCommit'>,
): DeliveryFaults {
  const held = createHeldDeliveries()
  let rules: Rules = []
  let sequence: FaultSequence | undefined
  return {
    async set(faults, seed) {
      sequence?.close()
      rules = rulesOf(faults)
      sequence = faults.length === 0 ? undefined : createFaultSequence(service, rules, seed)
      sequence?.addPending(await pendingOf(service))
      const delivery_ids = faults.length === 0 ? held.takeAll() : []
      if (delivery_ids.length > 0) await service.execute(releaseDeliveries, { delivery_ids, at_once: true })
    },
    show: () => rules.map(viewRule),
    planFor(delivery) {
      if (delivery.held !== undefined) {
        held.remove(delivery)
        return resumedPlan(delivery.held)
      }
      const plan = sequence?.planFor(delivery)
      for (const { rule, kinds } of plan?.injected ?? []) for (const kind of kinds) count(rule, kind)
      return plan
    },
    hold({ id: delivery_id, endpoint_id }, { faults, delay_ms, reorder_ms }) {
      held.add({ id: delivery_id, endpoint_id }, reorder_ms > 0)
      return service.execute(holdDelivery, { delivery_id, faults, delay_ms, reorder_ms })
    },
    releaseOvertaken(delivery) {
      const delivery_ids = held.takeOvertakenBy(delivery)
      if (delivery_ids.length === 0) return undefined
      return service.execute(releaseDeliveries, { delivery_ids, at_once: false })
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

/** Deliveries held by this process. Those held by an earlier process fall due by the clock. */
export function createHeldDeliveries() {
  const all = new Set<string>()
  /** Deliveries that wait to be overtaken, by endpoint. */
  const waiting = new Map<string, Set<string>>()
  return {
    add({ id, endpoint_id }: Subject, untilOvertaken: boolean): void {
      all.add(id)
      if (!untilOvertaken) return
      const ids = waiting.get(endpoint_id) ?? new Set()
      waiting.set(endpoint_id, ids.add(id))
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
      const ids = [...all]
      all.clear()
      waiting.clear()
      return ids
    },
    /** Removes a delivery whose attempt starts. */
    remove({ id, endpoint_id }: Subject): void {
      all.delete(id)
      const ids = waiting.get(endpoint_id)
      if (ids?.delete(id) === true && ids.size === 0) waiting.delete(endpoint_id)
    },
  }
}
