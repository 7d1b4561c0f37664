import type { Delivery } from '../model/delivery.ts'
import { put, type Write } from '../model/records.ts'

/** What happens to an endpoint's pending deliveries when nothing more is sent to it. */
export function retireDeliveries(pending: Iterable<Delivery>): Write[] {
  return Array.from(pending, (delivery) => put('deliveries', retired(delivery)))
}

export function retired({ held: _held, ...delivery }: Delivery): Delivery {
  return { ...delivery, status: 'dead', next_attempt_at: null, dead_reason: 'endpoint_disabled' }
}
