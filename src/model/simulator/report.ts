import type { Push } from '../check.ts'

/** A request with a finding, and the finding's message. */
interface ExampleRequest {
  id: string
  method: string
  path: string
  status: number
  started_at: string
  message: string
}

/** A problem in a push. `message` states the problem, its consequence and the solution. */
export interface Finding {
  code: FindingCode
  message: string
}

/** Most requests of a finding in a report. */
export const MOST_EXAMPLES = 10

/** All findings with one code (contract section 11). */
export interface ReportedFinding {
  code: FindingCode
  count: number
  first_at: string
  last_at: string
  /** The newest requests with this finding, at most {@link MOST_EXAMPLES}, oldest first. */
  requests: ExampleRequest[]
  /** True when `count` includes findings from before `since`, because details of old findings are dropped. */
  includes_earlier: boolean
}

/** Number of pushes refused with one 4xx error code. */
export interface RefusedPushes {
  status: number
  code: string
  count: number
}

/** Orders refused pushes: most frequent first. */
export function byCount(one: RefusedPushes, other: RefusedPushes): number {
  return other.count - one.count || one.status - other.status
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
  'text_encoding',
  'check_id_reused',
  'paid_not_closed',
  'overpaid',
  'lines_merged',
  'item_on_two_checks',
  'duplicate_check',
  'unit_change',
] as const

export type FindingCode = (typeof findingCodes)[number]

/** Problems that only payments, events and pushes together show (contract section 11). */
export const accountCodes = [
  'event_not_accepted',
  'refund_not_settled',
  'conflict_not_settled',
  'check_left_open',
] as const

/** Findings about pushes that concern money. */
export const moneyFindings = [
  'paid_not_closed',
  'overpaid',
  'check_id_reused',
  'item_on_two_checks',
  'duplicate_check',
  'lines_merged',
  'unit_change',
  'conflict_ignored',
] as const satisfies readonly FindingCode[]

/** Consequence and solution of a check that is paid and still open: a finding, and a problem of an account. */
export const CLOSE_PAID_CHECK =
  'The POS may charge the next party on it. When check.fully_paid arrives, close the check: push it with the status closed.'

/** Codes of the problems of an account. */
export const problemCodes = [...accountCodes, ...moneyFindings] as const
export type ProblemCode = (typeof problemCodes)[number]

/**
 * Amounts of a check, or of all checks, in integer minor units of the location's currency. For each check,
 * `pushed_cents` is `paid_cents` - `refunded_cents` + `owed_cents` + `paid_elsewhere_cents` - `overpaid_cents`.
 */
export interface Sums {
  /** `total_cents` of the newest applied push. */
  pushed_cents: number
  /** Claims that are active or paid. */
  claimed_cents: number
  /** Payments without tips, before refunds. */
  paid_cents: number
  tipped_cents: number
  refunded_cents: number
  /** The balance while the check is open. */
  owed_cents: number
  /** The balance after the check was closed: the till took it. */
  paid_elsewhere_cents: number
  /** The payments above the total. */
  overpaid_cents: number
}

/** The amounts of one check, with the codes of its problems. */
export interface AccountOfCheck extends Sums {
  external_check_id: string
  table: Push['table']
  status: Push['status']
  problems: ProblemCode[]
}

/** A push that was refused because of claims, and that no accepted push of its check followed. */
export interface UnsettledConflict {
  location_id: string
  external_check_id: string
  /** Id of the first refused push. */
  request: string
  started_at: string
}

/** A reason why POS, payments and receiver do not agree about a check. */
export interface Problem {
  code: ProblemCode
  external_check_id: string
  /** Time of the push, event or request that shows it first. */
  at: string
  /** The problem, its consequence and the solution. */
  message: string
  /** Ids of logged requests that show it. */
  requests: string[]
  /** Ids of events that show it. */
  events: string[]
  /** Ids of deliveries that show it. */
  deliveries: string[]
}

/** The account of a location, as `GET /_sim/account` returns it. */
export interface Account {
  location_id: string
  currency: string
  /** All checks, oldest first. */
  checks: AccountOfCheck[]
  /** Number of checks of other locations, which the account leaves out; absent without any. */
  checks_of_other_locations?: number
  /** The sums of all checks. */
  sums: Sums
  /** Problems in order of time; empty when everything adds up. */
  problems: Problem[]
}
