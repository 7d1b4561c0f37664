import { viewDelivery, type Attempt, type Delivery } from './delivery.ts'

/** One attempt with the delivery that it is of, as the stream tells it (contract section 10). */
export type AttemptMessage = Omit<Delivery, 'attempts'> & { attempt: Attempt }

/**
 * A delivery's attempts, first to last, each as it stood after it: one that was followed by another was pending then, and
 * what was next is known from what came.
 */
export function attemptMessages(delivery: Delivery): AttemptMessage[] {
  const { attempts, ...now } = viewDelivery(delivery)
  return attempts.map((attempt, index) => {
    const next = attempts[index + 1]
    if (next === undefined) return { ...now, attempt }
    const { held: _held, ...then } = now
    return { ...then, status: 'pending', next_attempt_at: next.started_at, dead_reason: null, attempt }
  })
}
