import type { Delivery } from '../../model/delivery.ts'
import type { ActiveFaults } from '../../model/simulator/fault-rules.ts'
import { holdDelivery, releaseDeliveries } from '../../operations/pending-deliveries.ts'
import type { Service } from '../../service.ts'
import type { FaultPlan } from './fault-plan.ts'
import { createFaultSequence, type FaultSequence } from './fault-sequence.ts'
import { createHeldDeliveries } from './held-deliveries.ts'

/** Fault injection for deliveries (contract section 10). */
export interface DeliveryFaults {
  /**
   * Must be called at the instance that replaced the faults. Resolves when they apply to all pending deliveries. Without
   * faults, releases all held deliveries.
   */
  replaced(): Promise<void>
  /** Plans the faults of the attempt that is about to start; `undefined` for none. Pings get no faults. */
  planFor(delivery: Delivery): Promise<FaultPlan | undefined> | FaultPlan | undefined
  /** Holds the attempt back durably; it falls due by the clock. */
  hold(delivery: Delivery, plan: FaultPlan): Promise<Delivery | undefined>
  /** Releases the held deliveries that this delivery, which its receiver has seen, has overtaken. */
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
    begun.catch(ignore)
    // The instance that cleared the faults releases all others. When this fails, they fall due by the clock.
    if (sequence === undefined) release(held.takeUnrecorded()).catch(ignore)
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
      if (sequence === undefined) await release(held.takeAll())
    },
    planFor(delivery) {
      if (delivery.held === undefined) return sequence?.planFor(delivery)
      held.remove(delivery)
      return resumedPlan(delivery.held)
    },
    hold({ id: delivery_id, endpoint_id, attempts }, { faults: kinds, delay_ms, reorder_ms }) {
      held.add({ id: delivery_id, endpoint_id }, reorder_ms > 0)
      return service.execute(holdDelivery, {
        delivery_id,
        attempt: attempts.length + 1,
        faults: kinds,
        delay_ms,
        reorder_ms,
      })
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

function ignore(): void {}
