import type { StoredCheck } from '../model/check.ts'
import { isFullyPaid } from '../model/guests/claimed-items.ts'
import type { Problem } from '../model/simulator/report.ts'
import { acceptedAt, type Happened, isBooked } from './happened.ts'

/**
 * Finds a check that was fully paid and is still open with nothing owed. A check with a new balance is not left open:
 * its guests have ordered more. With `allClosed`, finds any open check.
 */
export function checkLeftOpen(
  check: StoredCheck,
  happened: readonly Happened[],
  allClosed: boolean,
): Problem[] {
  if (check.status === 'closed') return []
  const paid = happened.findLast(({ type }) => type === 'check.fully_paid')
  const isPaid = check.balance_cents <= 0 && (paid !== undefined || isFullyPaid(check))
  if (!isPaid && !allClosed) return []
  const { external_id } = check
  const message = isPaid
    ? `Check ${external_id} was fully paid and is still open. The POS may charge the next party on it. When check.fully_paid arrives, close the check: push it with the status closed.`
    : `Check ${external_id} is still open, and --all-closed expects every check to be closed. Close the check: push it with the status closed.`
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
 * Finds the first refund that no push answers, on a check with a balance. An answer takes an amount off the bill, or
 * closes the check, whose rest the till then takes. A push before the refund was delivered is no answer: the POS did not
 * know about the refund.
 */
export function refundNotSettled(
  { external_id, balance_cents }: StoredCheck,
  happened: readonly Happened[],
  money: (cents: number) => string,
): Problem[] {
  if (balance_cents <= 0) return []
  const refunds = happened.flatMap((event, at) => (event.type === 'payment.refunded' ? [{ event, at }] : []))
  const [first] = refunds.filter(({ event, at }) => {
    const known = acceptedAt(event) ?? ''
    return !happened.some(
      (later, place) => place > at && later.created_at >= known && answers(later, happened.slice(0, place)),
    )
  })
  if (first === undefined) return []
  const { event } = first
  return [
    {
      code: 'refund_not_settled',
      external_check_id: external_id,
      at: event.created_at,
      message: `Payment ${event.subject} of check ${external_id} was refunded, no push took the amount off the bill, and ${money(balance_cents)} is owed. The guests at the table would pay again. Add the refund as a line with a negative price and push the check.`,
      requests: [],
      events: [event.id],
      deliveries: event.deliveries.map(({ id }) => id),
    },
  ]
}

/** Returns true for a push that closes the check, lowers its total or adds to its discounts. */
function answers({ after }: Happened, earlier: readonly Happened[]): boolean {
  if (after === undefined) return false
  const before = earlier.findLast((event) => event.after !== undefined)?.after
  if (after.status === 'closed' || before === undefined) return true
  return after.total_cents < before.total_cents || after.discount_cents < before.discount_cents
}

/** Finds an event about money that no subscribed endpoint accepted so far. */
export function eventNotAccepted(external_check_id: string, happened: readonly Happened[]): Problem[] {
  return happened
    .filter((event) => isBooked(event) && event.deliveries.length > 0 && acceptedAt(event) === undefined)
    .map((event) => ({
      code: 'event_not_accepted',
      external_check_id,
      at: event.created_at,
      message: `No receiver accepted ${event.type} of check ${external_check_id}: ${seen(event)}. The POS does not know about it and does not book it. Make the receiver answer 2xx, then resend the delivery.`,
      requests: [],
      events: [event.id],
      deliveries: event.deliveries.map(({ id }) => id),
    }))
}

function seen({ deliveries }: Happened): string {
  const attempts = deliveries.flatMap((delivery) => delivery.attempts)
  const last = attempts.at(-1)
  const next = deliveries.some(({ status }) => status === 'pending')
    ? 'a retry is pending'
    : 'no retry is left'
  if (last === undefined) return 'no attempt was made yet'
  const answer = last.response_status === null ? last.outcome : `status ${last.response_status}`
  return `${attempts.length === 1 ? '1 attempt' : `${attempts.length} attempts`}, the last with ${answer}, and ${next}`
}

/** A push that was refused because of claims, and that no accepted push of its check followed. */
export interface UnsettledConflict {
  location_id: string
  external_check_id: string
  /** Id of the first refused push. */
  request: string
  started_at: string
}

/** Describes a 409 without an accepted push afterwards. */
export function conflictNotSettled({ external_check_id, request, started_at }: UnsettledConflict): Problem {
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
