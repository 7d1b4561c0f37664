import type { Delivery } from '../../model/delivery.ts'
import { deliveryOf, type Waiting } from './fan-out.ts'
import type { DueIndex } from './due-index.ts'
import { dueIndexRule } from './schema.ts'
import type { Due, DueQuery, Unfinished, UnfinishedQuery } from '../store.ts'

/** What has fallen due in a queue of pending deliveries, and when the next will. It looks at the head of each endpoint's. */
export function findDue(
  queue: DueIndex<Delivery | Waiting>,
  { now, perEndpoint, wanted = Infinity, busy, full }: DueQuery,
): Due {
  const time = now.toISOString()
  const open = Array.from(queue.keys()).filter((endpoint) => full?.has(endpoint) !== true)
  const share = Math.ceil(wanted / open.length)
  const deliveries: Delivery[] = []
  let next: string | null = null
  let more = false
  for (const endpoint of open) {
    let looked = 0
    let taken = 0
    for (const delivery of queue.find(endpoint)) {
      if (looked++ === perEndpoint) break
      if (busy.has(delivery.id)) continue
      const at = timeOf(delivery)
      if (at > time) {
        if (next === null || at < next) next = at
        break
      }
      if (taken++ === share) {
        more = true
        break
      }
      deliveries.push(deliveryOf(delivery))
    }
  }
  return { deliveries: deliveries.sort(dueIndexRule.compare), next_at: next, more }
}

/** To which endpoints deliveries up to an identifier are due, and when the next one to another will be. */
export function findUnfinished(
  queue: DueIndex<Delivery | Waiting>,
  { now, upTo, busy, except }: UnfinishedQuery,
): Unfinished {
  const time = now.toISOString()
  const due: string[] = []
  let next: string | null = null
  for (const endpoint of queue.keys()) {
    if (except.has(endpoint)) continue
    for (const delivery of queue.find(endpoint)) {
      if (delivery.id > upTo || busy.has(delivery.id)) continue
      const at = timeOf(delivery)
      if (at <= time) due.push(endpoint)
      else if (next === null || at < next) next = at
      break
    }
  }
  return { due, next_at: next }
}

/** The queue holds only deliveries that have a time. */
function timeOf({ next_attempt_at }: Pick<Delivery, 'next_attempt_at'>): string {
  return next_attempt_at ?? ''
}
