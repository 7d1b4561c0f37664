import type { Delivery } from '../../model/delivery.ts'
import { leftOf, type ActiveFaults } from '../../model/simulator/fault-rules.ts'
import { put, type Write } from '../../model/records.ts'
import type { Service } from '../../service.ts'
import { countPlan, planFaults, takePlan, type FaultPlan } from './fault-plan.ts'

/** Fault candidates, numbered by commit order so that draws are reproducible when attempts run concurrently. */
export interface FaultSequence {
  /** Numbers the deliveries that were pending before. */
  addPending(pending: Iterable<Delivery>): void
  /** Takes the faults of the attempt that is about to start; it costs a transaction only when there are some. */
  planFor(delivery: Delivery): Promise<FaultPlan | undefined> | undefined
  close(): void
}

/** The deliveries that a fault holds back; each write of a delivery may end that. */
interface HeldDeliveries {
  note(write: Write): void
  takeAll(): unknown
}

interface Entry {
  ordinal: number
  /**
   * Plan of the first attempt, drawn with the number so that limits are used up in commit order. Every instance draws it;
   * the one that makes the attempt takes it.
   */
  first: FaultPlan | undefined
  state: 'reserved' | 'taken' | 'none'
}

/** Starts a sequence for the faults that are active now. */
export function createFaultSequence(
  service: Pick<Service, 'onCommit'>,
  faults: ActiveFaults,
  held: HeldDeliveries,
): FaultSequence {
  const entries = new Map<string, Entry>()
  /** Endpoints whose newest delivery waits to be overtaken. Their next delivery is not reordered, or all would wait. */
  const reordering = new Set<string>()
  /** Injections that plans of first attempts will use up, by rule. */
  const reserved = new Map<number, number>()
  const { id: setId } = faults.now()
  let last = 0

  function plan(subject: Parameters<typeof planFaults>[2]): FaultPlan | undefined {
    return planFaults(
      faults.now().deliveries,
      faults.seed(),
      subject,
      (rule) => leftOf(rule) - (reserved.get(rule.index) ?? 0),
    )
  }

  function reserve(first: FaultPlan | undefined, change: 1 | -1): void {
    for (const { rule } of first?.injected ?? [])
      reserved.set(rule.index, (reserved.get(rule.index) ?? 0) + change)
  }

  function add(delivery: Delivery): Entry {
    const { id, endpoint_id } = delivery
    const ordinal = ++last
    const isFirst = delivery.attempts.length === 0 && delivery.held === undefined
    const mayReorder = isFirst && !reordering.has(endpoint_id)
    const first = isFirst ? plan({ delivery, ordinal, attempt: 1, mayReorder }) : undefined
    if (first?.faults.includes('reorder') === true) reordering.add(endpoint_id)
    else reordering.delete(endpoint_id)
    const entry: Entry = { ordinal, first, state: first === undefined ? 'none' : 'reserved' }
    reserve(first, 1)
    entries.set(id, entry)
    return entry
  }

  function settle(entry: Entry | undefined, state: 'taken' | 'none'): void {
    if (entry?.state !== 'reserved') return
    reserve(entry.first, -1)
    entry.state = state
  }

  function remove(id: string): void {
    settle(entries.get(id), 'none')
    entries.delete(id)
  }

  function keepOnly(ids: ReadonlySet<string>): void {
    for (const id of entries.keys()) if (!ids.has(id)) remove(id)
  }

  function note(write: Write): void {
    if (write.collection !== 'deliveries') return
    held.note(write)
    if ('remove' in write) return remove(write.remove)
    const { id, status, event_type, attempts, held: hold } = write.put
    const entry = entries.get(id)
    if (status !== 'pending') remove(id)
    else if (event_type === 'ping') return
    else if (entry === undefined) add(write.put)
    // Its first attempt was made or held, maybe by another instance.
    else if (attempts.length > 0 || hold !== undefined) settle(entry, 'none')
  }

  /** Uses up the injections of a plan. */
  async function takeNow(drawn: FaultPlan): Promise<FaultPlan | undefined> {
    return faults.update(setId, ({ deliveries }) => {
      const taken = takePlan(deliveries, drawn)
      if (taken !== undefined) countPlan(deliveries, taken)
      return taken
    })
  }

  async function takeFirst(entry: Entry, first: FaultPlan): Promise<FaultPlan | undefined> {
    if (entry.state === 'taken') {
      // The attempt could not be recorded and is repeated, with the same faults.
      await faults.update(setId, ({ deliveries }) => countPlan(deliveries, first))
      return first
    }
    const before = faults.now()
    const taking = takeNow(first)
    // A single process makes the change at once; the next draw must not count the reservation, too.
    if (faults.now() !== before) settle(entry, 'taken')
    const taken = await taking
    settle(entry, 'taken')
    entry.first = taken
    return taken
  }

  const close = service.onCommit((writes, kind) => {
    if (kind === 'replacement') {
      held.takeAll()
      keepOnly(new Set(writes.map(idOf)))
    }
    for (const write of writes) note(write)
  })
  return {
    close,
    addPending(pending) {
      for (const delivery of pending) {
        held.note(put('deliveries', delivery))
        if (delivery.event_type !== 'ping' && !entries.has(delivery.id)) add(delivery)
      }
    },
    planFor(delivery) {
      if (delivery.event_type === 'ping') return undefined
      const entry = entries.get(delivery.id) ?? add(delivery)
      const attempt = delivery.attempts.length + 1
      if (attempt === 1) return entry.first && takeFirst(entry, entry.first)
      const drawn = plan({ delivery, ordinal: entry.ordinal, attempt, mayReorder: false })
      return drawn && takeNow(drawn)
    },
  }
}

function idOf(write: Write): string {
  return 'put' in write ? write.put.id : write.remove
}
