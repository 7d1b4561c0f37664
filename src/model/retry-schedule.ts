import type { Delivery } from './delivery.ts'

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS

/** The waits after the first, second, … failed attempt, in milliseconds (specification section 6, rule 5). */
export const retryScheduleMs: readonly number[] = [
  1 * MINUTE_MS,
  5 * MINUTE_MS,
  30 * MINUTE_MS,
  2 * HOUR_MS,
  8 * HOUR_MS,
  24 * HOUR_MS,
]

/**
 * How long to wait, from the end of a failed attempt, before the next one, in milliseconds; `null` when that was the
 * last. `attemptsMade` counts that attempt, so it is 1 or more. A ping is attempted once (contract section 9).
 */
export function retryInMs(attemptsMade: number, eventType: Delivery['event_type']): number | null {
  if (eventType === 'ping') return null
  return retryScheduleMs[attemptsMade - 1] ?? null
}
