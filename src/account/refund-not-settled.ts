import type { StoredCheck } from '../model/check.ts'
import type { Problem } from '../model/simulator/account.ts'
import { acceptedAt, type Happened } from './happened.ts'

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
