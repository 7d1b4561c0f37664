import type { Push } from '../check.ts'
import type { FindingCode } from './report.ts'

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
  /** The sums of all checks. */
  sums: Sums
  /** Problems in order of time; empty when everything adds up. */
  problems: Problem[]
}
