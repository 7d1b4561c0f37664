import type { Delivery } from '../../../../model/delivery.ts'
import { Badge } from '../badge.tsx'
import { endpointName } from '../endpoints.ts'
import { Link } from '../link.tsx'
import { NextAttempt } from '../next-attempt.tsx'
import { deliveryWord } from '../views/deliveries.tsx'

/** A delivery on one line of something else. */
export function DeliveryLine({ delivery }: { delivery: Delivery }) {
  const { id, event_type, endpoint_id, next_attempt_at } = delivery
  return (
    <li>
      <Link to={{ open: id }}>{event_type}</Link> <span class="quiet">to {endpointName(endpoint_id)}</span>{' '}
      <Badge word={deliveryWord(delivery)} />{' '}
      {next_attempt_at !== null && <NextAttempt at={next_attempt_at} />}
    </li>
  )
}
