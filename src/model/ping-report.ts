import type { AttemptOutcome } from './delivery.ts'

/** What came of a ping (contract section 9): its one attempt, whose fields are `null` when it could not be made. */
export interface PingReport {
  delivery_id: string
  event_id: string
  outcome: AttemptOutcome | null
  response_status: number | null
  duration_ms: number | null
  error: string | null
}
