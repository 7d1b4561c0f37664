import type { Delivery } from '../../model/delivery.ts'
import type { DeliveryFault } from '../../model/simulator/fault.ts'
import type { FaultRule } from '../../model/simulator/fault-rules.ts'
import type { Write } from '../../model/records.ts'
import type { Service } from '../../service.ts'
import { planFaults, type FaultPlan } from './fault-plan.ts'

/** Fault candidates, numbered by commit order so that draws are reproducible when attempts run concurrently. */
export interface FaultSequence {
  /** Numbers the deliveries that were pending before. */
  addPending(pending: Iterable<Delivery>): void
  planFor(delivery: Delivery): FaultPlan | undefined
  close(): void
}

interface Entry {
  ordinal: number
  /** Plan of the first attempt, drawn with the number so that `left` is used up in commit order. */
  first: FaultPlan | undefined
}

export function createFaultSequence(
  service: Pick<Service, 'onCommit'>,
  rules: readonly FaultRule<DeliveryFault>[],
  seed: number,
): FaultSequence {
  const entries = new Map<string, Entry>()
  /** Endpoints whose newest delivery waits to be overtaken. Their next delivery is not reordered, or all would wait. */
  const reordering = new Set<string>()
  let last = 0

  function add(delivery: Delivery): Entry {
    const { id, endpoint_id } = delivery
    const ordinal = ++last
    const isFirst = delivery.attempts.length === 0 && delivery.held === undefined
    const mayReorder = isFirst && !reordering.has(endpoint_id)
    const first = isFirst ? planFaults(rules, seed, { delivery, ordinal, attempt: 1, mayReorder }) : undefined
    if (first?.faults.includes('reorder') === true) reordering.add(endpoint_id)
    else reordering.delete(endpoint_id)
    const entry = { ordinal, first }
    entries.set(id, entry)
    return entry
  }

  function keepOnly(ids: ReadonlySet<string>): void {
    for (const id of entries.keys()) if (!ids.has(id)) entries.delete(id)
  }

  function note(write: Write): void {
    if (write.collection !== 'deliveries') return
    if ('remove' in write) return void entries.delete(write.remove)
    const { id, status, event_type } = write.put
    if (status !== 'pending') entries.delete(id)
    else if (event_type !== 'ping' && !entries.has(id)) add(write.put)
  }

  const close = service.onCommit((writes, kind) => {
    if (kind === 'replacement') keepOnly(new Set(writes.map(idOf)))
    for (const write of writes) note(write)
  })
  return {
    close: () => close(),
    addPending(pending) {
      for (const delivery of pending)
        if (delivery.event_type !== 'ping' && !entries.has(delivery.id)) add(delivery)
    },
    planFor(delivery) {
      if (delivery.event_type === 'ping') return undefined
      const { ordinal, first } = entries.get(delivery.id) ?? add(delivery)
      const attempt = delivery.attempts.length + 1
      return attempt === 1
        ? first
        : planFaults(rules, seed, { delivery, ordinal, attempt, mayReorder: false })
    },
  }
}

function idOf(write: Write): string {
  return 'put' in write ? write.put.id : write.remove
}
