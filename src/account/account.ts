import type { Delivery } from '../model/delivery.ts'
import { checkKey, keyOfItsCheck, type StoredCheck } from '../model/check.ts'
import type { Location, Everything } from '../model/records.ts'
import {
  type Account,
  type AccountOfCheck,
  CLOSE_PAID_CHECK,
  type Finding,
  type FindingCode,
  moneyFindings,
  type Problem,
  type ProblemCode,
  type Sums,
  type UnsettledConflict,
} from '../model/simulator/report.ts'
import { TRIAL_PREFIX } from '../model/simulator/request-entry.ts'
import { moneyIn } from '../model/text/money.ts'
import { groupedBy, eventsByCheck, acceptedAt, type CheckEvent, isAboutMoney } from './check-events.ts'
import { isFullyPaid } from '../model/guests/claimed-items.ts'
import { count } from '../model/text/count.ts'

/** A finding of the report with its request. */
export interface FindingOfCheck extends Finding {
  /** `undefined` when the log does not know it. */
  location_id: string | undefined
  external_check_id: string
  request: string
  started_at: string
}

/** The input of an account: all records, and what the request log knows about pushes. */
interface Accounted {
  location: Pick<Location, 'id' | 'currency'>
  records: Pick<Everything, 'checks' | 'claims' | 'payments' | 'events' | 'deliveries' | 'endpoints'>
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
  const pushed = records.checks.filter(({ external_id }) => !external_id.startsWith(TRIAL_PREFIX))
  const checks = pushed.filter(({ location_id }) => location_id === location.id)
  const others = pushed.length - checks.length
  const payments = records.payments.filter(({ location_id }) => location_id === location.id)
  const endpoints = records.endpoints.filter(({ location_id }) => location_id === location.id)
  const owned = new Set([...checks, ...payments].map(({ id }) => id))
  const happened = eventsByCheck(records, owned)
  const money = moneyIn(location.currency, 'en')
  const known = new Set(checks.map(({ external_id }) => external_id))
  const fromLog = [
    ...conflicts.filter(({ location_id }) => location_id === location.id).map(conflictNotSettled),
    ...fromFindings(findings.filter(({ location_id = location.id }) => location_id === location.id)),
  ].filter(({ external_check_id }) => known.has(external_check_id))
  const unclosed = new Set(
    fromLog
      .filter(({ code }) => code === 'paid_not_closed')
      .map(({ external_check_id }) => external_check_id),
  )
  const ofCheck = (check: StoredCheck): Problem[] => {
    const events = happened.get(check.external_id) ?? []
    return [
      ...eventNotAccepted(check.external_id, events, endpoints),
      ...refundNotSettled(check, events, money),
      ...(unclosed.has(check.external_id) ? [] : checkLeftOpen(check, events, allClosed)),
    ]
  }
  // The sort is stable: at equal times, problems of pushes come first.
  const problems = [...fromLog, ...checks.flatMap(ofCheck)].toSorted((one, other) =>
    one.at === other.at ? 0 : one.at < other.at ? -1 : 1,
  )
  const accounted = accountOfChecks(checks, { claims: records.claims, payments }, problems)
  return {
    location_id: location.id,
    currency: location.currency,
    checks: accounted,
    ...(others > 0 && { checks_of_other_locations: others }),
    sums: sumOf(accounted),
    problems,
  }
}

/** Most requests of a problem. */
const EXAMPLES = 10

/** Returns one problem for each code and check of the findings about money. */
function fromFindings(findings: readonly FindingOfCheck[]): Problem[] {
  const ofMoney = findings.filter((one): one is FindingOfCheck & { code: ProblemCode } => isMoney(one.code))
  const groups = groupedBy(ofMoney, ({ code, external_check_id }) => `${code}\n${external_check_id}`)
  return [...groups.values()].flatMap((found) => {
    const [first] = found
    if (first === undefined) return []
    const { code, external_check_id, started_at, message } = first
    const requests = [...new Set(found.map(({ request }) => request))].slice(0, EXAMPLES)
    return [{ code, external_check_id, at: started_at, message, requests, events: [], deliveries: [] }]
  })
}

function isMoney(code: FindingCode): code is FindingCode & ProblemCode {
  return (moneyFindings as readonly FindingCode[]).includes(code)
}

const zeroSums: Sums = {
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
  const claimsOf = groupedBy(claims, keyOfItsCheck)
  const paymentsOf = groupedBy(payments, keyOfItsCheck)
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
  const sums = { ...zeroSums }
  for (const name of Object.keys(zeroSums) as (keyof Sums)[])
    sums[name] = total(checks.map((check) => check[name]))
  return sums
}

function total(amounts: readonly number[]): number {
  return amounts.reduce((sum, cents) => sum + cents, 0)
}

/**
 * Finds a check that was fully paid and is still open with nothing owed. A check with a new balance is not left open:
 * its guests have ordered more. With `allClosed`, finds any open check.
 */
function checkLeftOpen(check: StoredCheck, happened: readonly CheckEvent[], allClosed: boolean): Problem[] {
  if (check.status === 'closed') return []
  const paid = happened.findLast(({ type }) => type === 'check.fully_paid')
  const isPaid = check.balance_cents <= 0 && (paid !== undefined || isFullyPaid(check))
  if (!isPaid && !allClosed) return []
  const { external_id } = check
  const message = isPaid
    ? `Check ${external_id} was fully paid and is still open. ${CLOSE_PAID_CHECK}`
    : `Check ${external_id} is still open, but every check was expected to be closed. Close the check: push it with the status closed.`
  return [
    {
      code: 'check_left_open',
      external_check_id: external_id,
      at: paid?.created_at ?? check.updated_at,
      message,
      requests: [],
      events: paid === undefined ? [] : [paid.id],
      deliveries: paid?.deliveries.map(({ id }) => id) ?? [],
    },
  ]
}

/**
 * Finds the first refund without an answer, on a check with a balance. A push answers it when it closes the check, lowers its
 * total or adds a discount, after a receiver accepted the refund. Where no receiver accepted it, such a push may come at
 * any time after the refund. `check.fully_paid` answers it, too: the guests have paid the amount again.
 */
function refundNotSettled(
  { external_id, status, balance_cents }: StoredCheck,
  happened: readonly CheckEvent[],
  money: (cents: number) => string,
): Problem[] {
  if (balance_cents <= 0) return []
  const refunds = happened.flatMap((event, at) => (event.type === 'payment.refunded' ? [{ event, at }] : []))
  const [first] = refunds.filter(({ event, at }) => {
    const known = acceptedAt(event) ?? ''
    return !happened.some(
      (later, place) =>
        place > at &&
        (later.type === 'check.fully_paid' ||
          (later.created_at >= known && answers(later, happened.slice(0, place)))),
    )
  })
  if (first === undefined) return []
  const { event } = first
  const consequence =
    status === 'closed'
      ? `the closed check counts ${money(balance_cents)} as paid elsewhere.`
      : `${money(balance_cents)} is owed. The guests at the table would pay again.`
  return [
    {
      code: 'refund_not_settled',
      external_check_id: external_id,
      at: event.created_at,
      message: `Payment ${event.subject} of check ${external_id} was refunded, no push took the amount off the bill, and ${consequence} Add the refund as a line with a negative price and push the check.`,
      requests: [],
      events: [event.id],
      deliveries: event.deliveries.map(({ id }) => id),
    },
  ]
}

/** Returns true for a push that closes the check, lowers its total or adds to its discounts. */
function answers({ after }: CheckEvent, earlier: readonly CheckEvent[]): boolean {
  if (after === undefined) return false
  const before = earlier.findLast((event) => event.after !== undefined)?.after
  if (after.status === 'closed' || before === undefined) return true
  return after.total_cents < before.total_cents || after.discount_cents < before.discount_cents
}

/**
 * Finds an event about money that no subscribed endpoint accepted so far. An endpoint that was disabled before the event
 * gets no delivery of it.
 */
function eventNotAccepted(
  external_check_id: string,
  happened: readonly CheckEvent[],
  endpoints: Everything['endpoints'],
): Problem[] {
  return happened.flatMap((event) => {
    if (!isAboutMoney(event) || acceptedAt(event) !== undefined) return []
    const disabled = endpoints.find(
      ({ event_types, created_at, disabled_at }) =>
        event_types.includes(event.type) &&
        created_at < event.created_at &&
        disabled_at !== null &&
        disabled_at <= event.created_at,
    )
    if (event.deliveries.length === 0 && disabled === undefined) return []
    const why =
      event.deliveries.length === 0 && disabled !== undefined
        ? `endpoint ${disabled.id} was disabled before (${disabled.disabled_reason ?? 'no reason stored'})`
        : attemptsText(event)
    return [
      {
        code: 'event_not_accepted',
        external_check_id,
        at: event.created_at,
        message: `No receiver accepted ${event.type} of check ${external_check_id}: ${why}. The POS does not know about it and does not book it. ${adviceFor(event)}`,
        requests: [],
        events: [event.id],
        deliveries: event.deliveries.map(({ id }) => id),
      },
    ]
  })
}

function adviceFor({ deliveries }: CheckEvent): string {
  // Disabled endpoints get no further deliveries, resent ones included.
  if (deliveries.every(isOfDisabled))
    return 'Make the receiver answer 2xx, then register its URL again. Events from before are not sent again.'
  return deliveries.every(({ status, attempts }) => status === 'pending' && attempts.length === 0)
    ? 'Take the account again after the delivery.'
    : 'Make the receiver answer 2xx, then resend the delivery.'
}

function isOfDisabled({ dead_reason }: Delivery): boolean {
  return dead_reason === 'endpoint_disabled'
}

function attemptsText({ deliveries }: CheckEvent): string {
  const attempts = deliveries.flatMap((delivery) => delivery.attempts)
  const last = attempts.toSorted((one, other) => (one.started_at < other.started_at ? -1 : 1)).at(-1)
  const next = deliveries.some(({ status }) => status === 'pending')
    ? 'a retry is pending'
    : deliveries.every(isOfDisabled)
      ? 'its endpoint is disabled or deleted'
      : 'no retry is left'
  if (last === undefined) return deliveries.every(isOfDisabled) ? next : 'no attempt was made yet'
  const answer = last.response_status === null ? last.outcome : `status ${last.response_status}`
  return `${count(attempts.length, 'attempt')}, the last with ${answer}, and ${next}`
}

/** Describes a 409 without an accepted push afterwards. */
function conflictNotSettled({ external_check_id, request, started_at }: UnsettledConflict): Problem {
  return {
    code: 'conflict_not_settled',
    external_check_id,
    at: started_at,
    message: `A push of check ${external_check_id} was refused with 409 conflict_with_paid_items, and no accepted push followed. The bill of the POS differs from the bill that guests pay. Restore the items of the conflicts at their price and push the check.`,
    requests: [request],
    events: [],
    deliveries: [],
  }
}
