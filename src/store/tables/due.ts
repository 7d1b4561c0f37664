import type { Delivery } from '../../model/delivery.ts'
import { deliveryOf, type Waiting } from './fan-out.ts'
import type { DueIndex } from './due-index.ts'
import { dueIndexRule } from './schema.ts'
import type { Due, DueQuery, Unfinished, UnfinishedQuery } from '../store.ts'

/** Returns the due deliveries, and when the next one will be. Examines the head of each endpoint's list. */
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

/** Returns the endpoints with a due delivery up to an id, and when the next delivery to another one falls due. */
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

/** The due index holds only deliveries with a time. */
function timeOf({ next_attempt_at }: Pick<Delivery, 'next_attempt_at'>): string {
  return next_attempt_at ?? ''
}
