import type { Problem } from '../model/simulator/account.ts'
import { acceptedAt, isBooked, type Happened } from './happened.ts'

/** Finds an event about money that no subscribed endpoint accepted so far. */
export function eventNotAccepted(external_check_id: string, happened: readonly Happened[]): Problem[] {
  return happened
    .filter((event) => isBooked(event) && event.deliveries.length > 0 && acceptedAt(event) === undefined)
    .map((event) => ({
      code: 'event_not_accepted',
      external_check_id,
      at: event.created_at,
      message: `No receiver accepted ${event.type} of check ${external_check_id}: ${seen(event)}. The POS does not know about it and does not book it. Make the receiver answer 2xx, then resend the delivery.`,
      requests: [],
      events: [event.id],
      deliveries: event.deliveries.map(({ id }) => id),
    }))
}

function seen({ deliveries }: Happened): string {
  const attempts = deliveries.flatMap((delivery) => delivery.attempts)
  const last = attempts.at(-1)
  const next = deliveries.some(({ status }) => status === 'pending')
    ? 'a retry is pending'
    : 'no retry is left'
  if (last === undefined) return 'no attempt was made yet'
  const answer = last.response_status === null ? last.outcome : `status ${last.response_status}`
  return `${attempts.length === 1 ? '1 attempt' : `${attempts.length} attempts`}, the last with ${answer}, and ${next}`
}
