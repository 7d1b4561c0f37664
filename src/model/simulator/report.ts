/** A request that shows a finding, with what there is to say of it. */
export interface ReportedRequest {
  id: string
  method: string
  path: string
  status: number
  started_at: string
  message: string
}

/** All that was found of one kind (contract section 11). */
export interface ReportedFinding {
  code: FindingCode
  count: number
  first_at: string
  last_at: string
  /** The newest of those that show it, oldest first; at most 10. */
  requests: ReportedRequest[]
  /** Some are so long ago that only their number is known, so those from before `since` are in `count` as well. */
  includes_earlier: boolean
}

/** How many pushes were answered with one error code of 4xx. */
export interface RefusedPushes {
  status: number
  code: string
  count: number
}

/** What an integration did wrong, as `GET /_sim/report` answers it. */
export interface Report {
  /** What was asked for; `null` is all since the service started or its state was replaced. */
  since: string | null
  /** How many pushes were looked at; with `since`, of those that the log still has. */
  pushes: number
  /** Those that were refused, by code, the most frequent first; conflicts, rate limits and injected errors are in it. */
  refused: RefusedPushes[]
  /** In the order of contract section 11; empty when nothing was found. */
  findings: ReportedFinding[]
}

/** The codes of contract section 11, in its order: what can be wrong with an integration. */
export const findingCodes = [
  'totals_mismatch',
  'unknown_field',
  'revision_missing',
  'revision_reused',
  'reopen_needs_revision',
  'possible_late_retry',
  'item_id_reused',
  'item_id_unstable',
  'delta_suspected',
  'conflict_ignored',
  'no_idempotent_retry',
  'push_refused',
  'invalid_push_repeated',
  'quantity_precision',
] as const

export type FindingCode = (typeof findingCodes)[number]
