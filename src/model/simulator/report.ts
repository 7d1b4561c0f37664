/** A request with a finding, and the finding's message. */
export interface ReportedRequest {
  id: string
  method: string
  path: string
  status: number
  started_at: string
  message: string
}

/** All findings with one code (contract section 11). */
export interface ReportedFinding {
  code: FindingCode
  count: number
  first_at: string
  last_at: string
  /** The newest requests with this finding, at most 10, oldest first. */
  requests: ReportedRequest[]
  /** True when `count` includes findings from before `since`, because details of old findings are dropped. */
  includes_earlier: boolean
}

/** Number of pushes refused with one 4xx error code. */
export interface RefusedPushes {
  status: number
  code: string
  count: number
}

/** Mistakes of an integration, as `GET /_sim/report` returns them. */
export interface Report {
  /** The requested start time; `null` covers everything since the service started or its state was replaced. */
  since: string | null
  /** Number of checked pushes; with `since`, of those still in the log. */
  pushes: number
  /** Refused pushes by code, most frequent first. Includes conflicts, rate limits and injected errors. */
  refused: RefusedPushes[]
  /** In the order of contract section 11; empty without findings. */
  findings: ReportedFinding[]
}

/** Codes of findings, in the order of contract section 11. */
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
  'check_id_reused',
  'paid_not_closed',
  'overpaid',
  'lines_merged',
  'item_on_two_checks',
  'duplicate_check',
  'unit_change',
] as const

export type FindingCode = (typeof findingCodes)[number]
