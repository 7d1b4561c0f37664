import type { Delivery } from './delivery.ts'

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS

/** Backoff after the first, second, … failed attempt, in milliseconds (specification section 6, rule 5). */
export const retryScheduleMs: readonly number[] = [
  1 * MINUTE_MS,
  5 * MINUTE_MS,
  30 * MINUTE_MS,
  2 * HOUR_MS,
  8 * HOUR_MS,
  24 * HOUR_MS,
]

/** Returns the number of attempts of a delivery that never succeeds. A ping has one (contract section 9). */
export function mostAttempts(eventType: Delivery['event_type']): number {
  return eventType === 'ping' ? 1 : retryScheduleMs.length + 1
}

/**
 * Returns the backoff from the end of a failed attempt, in milliseconds; `null` after the last attempt. `attemptsMade`
 * includes that attempt, so it is 1 or more. A ping has one attempt (contract section 9).
 */
export function retryInMs(attemptsMade: number, eventType: Delivery['event_type']): number | null {
  if (eventType === 'ping') return null
  return retryScheduleMs[attemptsMade - 1] ?? null
}
