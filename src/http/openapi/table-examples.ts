import type { Check } from '../../model/check.ts'
import type { Claim } from '../../model/claim.ts'
import { isFullyPaid, withClaims } from '../../model/claimed-items.ts'
import type { Location } from '../../model/location.ts'
import type { Payment } from '../../model/payment.ts'
import { viewAtTable } from '../../model/guest-table/view.ts'

/** A meal from `fixtures`, at which one guest has claimed and then paid. */
export interface Meal {
  place: Pick<Location, 'name' | 'currency' | 'timezone'>
  /** Before any of it. */
  check: Check
  claim: Claim
  payment: Payment
}

/** The table as a guest sees it after paying, made by the function that answers. */
export function tableExample({ place, check, claim, payment }: Meal) {
  const guest_hash = 'of the guest who asks'
  const paid: Claim = { ...claim, status: 'paid', payment_id: payment.id, guest_hash }
  const money = {
    paid_cents: payment.amount_cents,
    balance_cents: check.totals.total_cents - payment.amount_cents,
  }
  const after: Check = {
    ...check,
    ...money,
    items: withClaims(check.items, [paid], isFullyPaid(money)),
    updated_at: payment.created_at,
  }
  return {
    table: check.table,
    location: place,
    checks: [viewAtTable(after, [paid], [{ ...payment, guest_hash }], guest_hash)],
  }
}
