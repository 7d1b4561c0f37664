import type { AttemptOutcome, Delivery } from '../delivery.ts'

/** One attempt that was made while the clock moved. */
export interface PlayedAttempt {
  delivery_id: string
  event_type: Delivery['event_type']
  endpoint_id: string
  attempt: number
  /** When it began, on the clock that was moved. */
  at: string
  outcome: AttemptOutcome
  response_status: number | null
  /** What the delivery was after it. */
  status: Delivery['status']
}

/** What was attempted while the clock moved: all of it counted, the first of it listed. */
export interface Played {
  attempted_total: number
  /** How many attempts ended how. */
  outcomes: Partial<Record<AttemptOutcome, number>>
  attempted: readonly PlayedAttempt[]
}
