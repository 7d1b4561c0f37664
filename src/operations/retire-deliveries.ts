import type { Delivery } from '../model/delivery.ts'
import type { Write } from '../model/records.ts'

/** What happens to an endpoint's pending deliveries when nothing more is sent to it. */
export function retireDeliveries(pending: Iterable<Delivery>): Write[] {
  return Array.from(pending, (delivery) => retirement(retired(delivery)))
}

/** The write of a delivery that is dead without another attempt, and so is news of its own. */
export function retirement(delivery: Delivery): Write {
  return { collection: 'deliveries', put: delivery, retires: true }
}

export function retired({ held: _held, ...delivery }: Delivery): Delivery {
  return { ...delivery, status: 'dead', next_attempt_at: null, dead_reason: 'endpoint_disabled' }
}
