import type { AttemptOutcome, Delivery } from '../delivery.ts'

/** The service clock, as `GET /_sim/clock` returns it. */
export interface ClockView {
  now: string
  frozen: boolean
  /** Milliseconds that it is ahead of real time. */
  offset_ms: number
  /**
   * The current move: its target, an ISO 8601 time, and the ids of at most ten deliveries that it waits for: those in flight;
   * with several instances, those due or in flight.
   */
  moving: { to: string; waiting_for: readonly string[] } | null
}

/** An attempt made while the clock moved. */
export interface PlayedAttempt {
  delivery_id: string
  event_type: Delivery['event_type']
  endpoint_id: string
  attempt: number
  /** Start of the attempt, by the moved clock. */
  at: string
  outcome: AttemptOutcome
  response_status: number | null
  /** Status of the delivery after the attempt. */
  status: Delivery['status']
}

/** Attempts made while the clock moved: all are counted, the first ones are listed. */
export interface PlaybackReport {
  attempted_total: number
  /** Number of attempts by outcome. */
  outcomes: Partial<Record<AttemptOutcome, number>>
  attempted: readonly PlayedAttempt[]
}
