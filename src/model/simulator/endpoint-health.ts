import type { Attempt, AttemptOutcome, Delivery } from '../delivery.ts'

/** Number of deliveries from which the success rate of an endpoint is calculated. */
export const RECENT = 50

/** The outcome of an endpoint's newest deliveries. */
export interface RecentDeliveries {
  /** The newest deliveries with an attempt, at most 50. */
  recent: {
    deliveries: number
    /** Those that were delivered. */
    delivered: number
  }
  /** The newest failed attempt of these deliveries; `null` without one. */
  last_error: {
    delivery_id: string
    at: string
    outcome: AttemptOutcome
    response_status: number | null
    error: string | null
  } | null
}

/** Returns the success rate and the last error of an endpoint's newest deliveries. */
export function healthOf(deliveries: readonly Delivery[]): RecentDeliveries {
  let last: { delivery: Delivery; attempt: Attempt } | undefined
  for (const delivery of deliveries)
    for (const attempt of delivery.attempts)
      if (attempt.outcome !== 'succeeded' && attempt.started_at > (last?.attempt.started_at ?? ''))
        last = { delivery, attempt }
  return {
    recent: {
      deliveries: deliveries.length,
      delivered: deliveries.filter(({ status }) => status === 'delivered').length,
    },
    last_error:
      last === undefined
        ? null
        : {
            delivery_id: last.delivery.id,
            at: last.attempt.started_at,
            outcome: last.attempt.outcome,
            response_status: last.attempt.response_status,
            error: last.attempt.error,
          },
  }
}
