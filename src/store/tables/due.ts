import type { Delivery } from '../../model/delivery.ts'
import type { Due, DueQuery, Unfinished, UnfinishedQuery } from '../store.ts'
import { compareText, SortedTree, type KeyIndex } from './table.ts'

type Queue = SortedTree<Delivery, Delivery>

/** The pending deliveries of each endpoint, by due time. */
export class DueIndex implements KeyIndex<Delivery> {
  private readonly queues = new Map<string, Queue>()

  move(before: Delivery | undefined, after: Delivery | undefined): void {
    if (before !== undefined) {
      const queue = this.queues.get(before.endpoint_id)
      queue?.delete(before)
      if (queue?.isEmpty === true) this.queues.delete(before.endpoint_id)
    }
    if (after?.status !== 'pending' || after.next_attempt_at === null) return
    const queue: Queue = this.queues.get(after.endpoint_id) ?? new SortedTree(undefined, compareDue)
    queue.set(after, after)
    this.queues.set(after.endpoint_id, queue)
  }

  /**
   * Returns the pending deliveries of an endpoint, oldest first. They are sorted only when iterated: every attempt asks for
   * them, but only an attempt that disables the endpoint reads them.
   */
  find(endpoint: string): Iterable<Delivery> {
    return { [Symbol.iterator]: () => oldestFirst(this.queues.get(endpoint)).values() }
  }

  /** Returns the due deliveries, and when the next one will be. Examines the head of each endpoint's queue. */
  due({ now, perEndpoint, wanted = Infinity, isBusy, isFull }: DueQuery): Due {
    const time = now.toISOString()
    const open = [...this.queues].filter(([endpoint]) => isFull?.(endpoint) !== true)
    const share = Math.ceil(wanted / open.length)
    const deliveries: Delivery[] = []
    let next: string | null = null
    let more = false
    for (const [, queue] of open) {
      let looked = 0
      let taken = 0
      for (const delivery of queue.values()) {
        if (looked++ === perEndpoint) break
        if (isBusy?.(delivery.id) === true) continue
        const at = timeOf(delivery)
        if (at > time) {
          if (next === null || at < next) next = at
          break
        }
        if (taken++ === share) {
          more = true
          break
        }
        deliveries.push(delivery)
      }
    }
    return { deliveries: deliveries.sort(compareDue), next_at: next, more }
  }

  /** Returns the endpoints with a due delivery up to an id, and when the next delivery to another one falls due. */
  unfinished({ now, upTo, isBusy, except }: UnfinishedQuery): Unfinished {
    const time = now.toISOString()
    const due: string[] = []
    let next: string | null = null
    for (const [endpoint, queue] of this.queues) {
      if (except.has(endpoint)) continue
      for (const delivery of queue.values()) {
        if (delivery.id > upTo || isBusy?.(delivery.id) === true) continue
        const at = timeOf(delivery)
        if (at <= time) due.push(endpoint)
        else if (next === null || at < next) next = at
        break
      }
    }
    return { due, next_at: next }
  }
}

function oldestFirst(queue: Queue | undefined): Delivery[] {
  return [...(queue?.values() ?? [])].sort((one, other) => compareText(one.id, other.id))
}

function compareDue(one: Delivery, other: Delivery): number {
  return compareText(timeOf(one), timeOf(other)) || compareText(one.id, other.id)
}

/** The queues hold only deliveries with a time. */
function timeOf({ next_attempt_at }: Delivery): string {
  return next_attempt_at ?? ''
}
