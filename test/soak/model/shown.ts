import type { Check } from '../../../src/model/check.ts'
import type { Claim, Payment } from '../../../src/model/guests/records.ts'
import { balanceCents, held, isFullyPaid, owedCents, paidCents, type State } from './guests.ts'

type ClaimPart = Pick<Claim, 'id' | 'items' | 'amount_cents' | 'status' | 'payment_id'>

/** Visible state of a check and its guests, without values that only the service decides, such as times. */
export function expected(state: State) {
  const { push, claims, payments } = state
  return {
    check: {
      ...push,
      revision: push.revision ?? null,
      items: push.items.map((line) => ({
        ...line,
        claimed_quantity: held(state, line.external_id),
        paid_quantity: isFullyPaid(state) ? line.quantity : held(state, line.external_id, ['paid']),
      })),
      paid_cents: paidCents(state),
      balance_cents: balanceCents(state),
    },
    claims: claims.map((claim) => claimPart({ ...claim, amount_cents: owedCents(state, claim) })),
    payments,
  }
}

/** The same of a check as it is shown. */
export function checkPart({ table, status, items, totals, revision, paid_cents, balance_cents }: Check) {
  return { table, status, items, totals, revision, paid_cents, balance_cents }
}

export function claimPart({ id, items, amount_cents, status, payment_id }: ClaimPart) {
  return { id, items, amount_cents, status, payment_id }
}

export function paymentPart({ id, claim_ids, amount_cents, tip_cents, refunded_cents, status }: Payment) {
  return { id, claim_ids, amount_cents, tip_cents, refunded_cents, status }
}
