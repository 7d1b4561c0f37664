import { checkKey, type StoredCheck } from '../model/check.ts'
import type { Location, Everything } from '../model/records.ts'
import {
  type Account,
  type AccountOfCheck,
  type FindingCode,
  moneyFindings,
  type Problem,
  type ProblemCode,
  type Sums,
} from '../model/simulator/report.ts'
import { TRIAL_PREFIX } from '../model/simulator/request-entry.ts'
import { moneyIn } from '../model/text/money.ts'
import { groupedBy, happenedTo } from './happened.ts'
import {
  checkLeftOpen,
  conflictNotSettled,
  eventNotAccepted,
  refundNotSettled,
  type UnsettledConflict,
} from './problems.ts'

export type { UnsettledConflict } from './problems.ts'

/** A finding of the report with its request. */
export interface FindingOfCheck {
  code: FindingCode
  message: string
  external_check_id: string
  request: string
  started_at: string
}

/** The input of an account: all records, and what the request log knows about pushes. */
interface Accounted {
  location: Pick<Location, 'id' | 'currency'>
  records: Pick<Everything, 'checks' | 'claims' | 'payments' | 'events' | 'deliveries'>
  findings: readonly FindingOfCheck[]
  conflicts: readonly UnsettledConflict[]
  /** Every check is expected to be closed. */
  allClosed: boolean
}

/**
 * Judges POS, payments and receiver as one (contract section 11): the amounts of each check, and the problems in order
 * of time. Checks that commands of ours push as a trial are left out.
 */
export function accountOf({ location, records, findings, conflicts, allClosed }: Accounted): Account {
  const checks = records.checks.filter(
    ({ location_id, external_id }) => location_id === location.id && !external_id.startsWith(TRIAL_PREFIX),
  )
  const payments = records.payments.filter(({ location_id }) => location_id === location.id)
  const owned = new Set([...checks, ...payments].map(({ id }) => id))
  const happened = happenedTo(records, owned)
  const money = moneyIn(location.currency, 'en')
  const known = new Set(checks.map(({ external_id }) => external_id))
  const fromLog = [
    ...conflicts.filter(({ location_id }) => location_id === location.id).map(conflictNotSettled),
    ...fromFindings(findings),
  ].filter(({ external_check_id }) => known.has(external_check_id))
  const unclosed = new Set(
    fromLog
      .filter(({ code }) => code === 'paid_not_closed')
      .map(({ external_check_id }) => external_check_id),
  )
  const ofCheck = (check: StoredCheck): Problem[] => {
    const events = happened.get(check.external_id) ?? []
    return [
      ...eventNotAccepted(check.external_id, events),
      ...refundNotSettled(check, events, money),
      ...(unclosed.has(check.external_id) ? [] : checkLeftOpen(check, events, allClosed)),
    ]
  }
  // At one time, a push comes before its effects.
  const problems = [...fromLog, ...checks.flatMap(ofCheck)].toSorted((one, other) =>
    one.at === other.at ? 0 : one.at < other.at ? -1 : 1,
  )
  const accounted = accountOfChecks(checks, { claims: records.claims, payments }, problems)
  return {
    location_id: location.id,
    currency: location.currency,
    checks: accounted,
    sums: sumOf(accounted),
    problems,
  }
}

/** Most requests of a problem. The report lists further ones. */
const EXAMPLES = 10

/** Returns one problem for each code and check of the findings about money. */
function fromFindings(findings: readonly FindingOfCheck[]): Problem[] {
  const ofMoney = findings.filter(({ code }) => isMoney(code))
  const groups = groupedBy(ofMoney, ({ code, external_check_id }) => `${code}\n${external_check_id}`)
  return [...groups.values()].flatMap((found) => {
    const [first] = found
    if (first === undefined) return []
    const { code, external_check_id, started_at, message } = first
    const requests = [...new Set(found.map(({ request }) => request))].slice(0, EXAMPLES)
    const problem = { external_check_id, at: started_at, message, requests, events: [], deliveries: [] }
    return isMoney(code) ? [{ code, ...problem }] : []
  })
}

function isMoney(code: FindingCode): code is FindingCode & ProblemCode {
  return (moneyFindings as readonly FindingCode[]).includes(code)
}

const none: Sums = {
  pushed_cents: 0,
  claimed_cents: 0,
  paid_cents: 0,
  tipped_cents: 0,
  refunded_cents: 0,
  owed_cents: 0,
  paid_elsewhere_cents: 0,
  overpaid_cents: 0,
}

/** Returns the amounts of each check, and the codes of its problems. */
function accountOfChecks(
  checks: readonly StoredCheck[],
  { claims, payments }: Pick<Everything, 'claims' | 'payments'>,
  problems: readonly Problem[],
): AccountOfCheck[] {
  const claimsOf = groupedBy(claims, addressOf)
  const paymentsOf = groupedBy(payments, addressOf)
  const problemsOf = groupedBy(problems, ({ external_check_id }) => external_check_id)
  return checks.map((check) => {
    const key = checkKey(check)
    const paid = paymentsOf.get(key) ?? []
    const claimed = (claimsOf.get(key) ?? []).filter(({ status }) => status !== 'released')
    const left = Math.max(check.balance_cents, 0)
    return {
      external_check_id: check.external_id,
      table: check.table,
      status: check.status,
      pushed_cents: check.totals.total_cents,
      claimed_cents: total(claimed.map(({ amount_cents }) => amount_cents)),
      paid_cents: total(paid.map(({ amount_cents }) => amount_cents)),
      tipped_cents: total(paid.map(({ tip_cents }) => tip_cents)),
      refunded_cents: total(paid.map(({ refunded_cents }) => refunded_cents)),
      owed_cents: check.status === 'open' ? left : 0,
      paid_elsewhere_cents: check.status === 'closed' ? left : 0,
      overpaid_cents: Math.max(-check.balance_cents, 0),
      problems: [...new Set(problemsOf.get(check.external_id)?.map(({ code }) => code))],
    }
  })
}

/** Adds up the amounts of checks. */
function sumOf(checks: readonly Sums[]): Sums {
  const sums = { ...none }
  for (const name of Object.keys(none) as (keyof Sums)[])
    sums[name] = total(checks.map((check) => check[name]))
  return sums
}

function addressOf({
  location_id,
  external_check_id,
}: {
  location_id: string
  external_check_id: string
}): string {
  return checkKey({ location_id, external_id: external_check_id })
}

function total(amounts: readonly number[]): number {
  return amounts.reduce((sum, cents) => sum + cents, 0)
}
