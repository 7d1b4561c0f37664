import type { StoredCheck } from '../model/check.ts'
import type { Problem } from '../model/simulator/account.ts'
import { acceptedAt, isPushed, type Happened } from './happened.ts'

/**
 * Finds the first refund that no push answers, on a check with a balance. A push before the refund was delivered does
 * not answer it: the POS did not know about it.
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
    return !happened.slice(at + 1).some((later) => isPushed(later) && later.created_at >= known)
  })
  if (first === undefined) return []
  const { event } = first
  return [
    {
      code: 'refund_not_settled',
      external_check_id: external_id,
      at: event.created_at,
      message: `Payment ${event.subject} of check ${external_id} was refunded and no push followed, so ${money(balance_cents)} is owed. The guests at the table would pay again. Take the refunded amount off the bill and push the check.`,
      requests: [],
      events: [event.id],
      deliveries: event.deliveries.map(({ id }) => id),
    },
  ]
}
