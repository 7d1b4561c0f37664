import type { Played, PlayedAttempt } from '../model/played.ts'
import type { Attempt, AttemptOutcome, Delivery } from '../model/delivery.ts'

/** As many attempts as one looks at; all of them are in the deliveries. */
const MAX_LISTED = 1_000

/** Counts attempts as they are recorded. */
export function createPlaybackReport() {
  const attempted: PlayedAttempt[] = []
  const outcomes: Partial<Record<AttemptOutcome, number>> = {}
  let total = 0
  return {
    add(delivery: Delivery, attempt: Attempt): void {
      total += 1
      outcomes[attempt.outcome] = (outcomes[attempt.outcome] ?? 0) + 1
      if (attempted.length < MAX_LISTED) attempted.push(entryOf(delivery, attempt))
    },
    result: (): Played => ({ attempted_total: total, outcomes, attempted: inOrder(attempted) }),
  }
}

/** They are noted as receivers answer, and who answers first is chance. */
function inOrder(attempted: readonly PlayedAttempt[]): PlayedAttempt[] {
  const rank = ({ at, delivery_id, attempt }: PlayedAttempt) => `${at} ${delivery_id} ${attempt}`
  return attempted.toSorted((one, other) => (rank(one) < rank(other) ? -1 : 1))
}

function entryOf(
  delivery: Delivery,
  { number, started_at, outcome, response_status }: Attempt,
): PlayedAttempt {
  const { id, event_type, endpoint_id, status } = delivery
  return {
    delivery_id: id,
    event_type,
    endpoint_id,
    attempt: number,
    at: started_at,
    outcome,
    response_status,
    status,
  }
}
