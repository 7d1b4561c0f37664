import type { Played, PlayedAttempt } from '../model/simulator/playback.ts'
import type { Attempt, AttemptOutcome, Delivery } from '../model/delivery.ts'

/** Most attempts that a report lists. The deliveries hold all of them. */
const MAX_LISTED = 1_000

/** Counts the attempts that are recorded while the clock moves. */
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

/** Sorts by time, delivery and number, since the order in which receivers answer is random. */
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
