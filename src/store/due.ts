import type { Delivery } from '../model/delivery.ts'
import type { Queue } from './queue.ts'
import { compareText } from './sorted-tree.ts'
import type { Due, DueQuery } from './store.ts'

/** What has fallen due in a queue of pending deliveries, and when the next will. It looks at the head of each endpoint's. */
export function dueIn(queue: Queue<Delivery>, { now, perEndpoint, busy, full }: DueQuery): Due {
  const time = now.toISOString()
  const open = Array.from(queue.keys()).filter((endpoint) => full?.has(endpoint) !== true)
  const heads = open.flatMap((endpoint) => headOf(queue.find(endpoint), perEndpoint))
  const free = heads.filter(({ id }) => !busy.has(id)).sort(byTime)
  const firstLater = free.findIndex((delivery) => timeOf(delivery) > time)
  return firstLater === -1
    ? { deliveries: free, next_at: null }
    : { deliveries: free.slice(0, firstLater), next_at: timeOf(free[firstLater]) }
}

function headOf<T>(items: Iterable<T>, count: number): T[] {
  const head: T[] = []
  for (const item of items) {
    if (head.length === count) break
    head.push(item)
  }
  return head
}

function byTime(a: Delivery, b: Delivery): number {
  return compareText(timeOf(a), timeOf(b)) || compareText(a.id, b.id)
}

/** The queue holds only deliveries that have a time. */
function timeOf(delivery: Delivery | undefined): string {
  return delivery?.next_attempt_at ?? ''
}
