import { viewCheck, type Check, type StoredCheck } from '../check.ts'
import type { Claim, ClaimView } from '../guests/claim.ts'
import type { Location } from '../location.ts'
import type { Payment, PaymentView } from '../guests/payment.ts'

/** What a guest sees at a table: its checks with who has taken what, and what of it is their own. */
export interface TableView {
  table: { number: string }
  location: Pick<Location, 'name' | 'currency' | 'timezone'>
  /** Open ones first, each newest first. */
  checks: readonly TableCheck[]
}

export interface TableCheck extends Omit<Check, 'id' | 'location_id' | 'table' | 'revision'> {
  /** What is to be split when guests pay in even parts: the total without what was paid by claims. */
  even_split_cents: number
  /** Those that hold items, oldest first. */
  claims: readonly TableClaim[]
  /** Oldest first. */
  payments: readonly TablePayment[]
}

export type TableClaim = Omit<ClaimView, 'check_id' | 'external_check_id'> & { mine: boolean }

/** What others gave as a tip is their own business. */
export type TablePayment = Pick<
  PaymentView,
  'id' | 'guest_name' | 'claim_ids' | 'amount_cents' | 'refunded_cents' | 'created_at'
> & { tip_cents: number | null; mine: boolean }

/** How long a guest still sees a check that is closed and paid: time to look at the receipt and to rate. */
const JUST_PAID_MS = 60 * 60 * 1000

/** Whether guests at the table see a check: open ones, closed ones that are owed, and those that were just paid. */
export function isShownAtTable({ status, balance_cents, updated_at }: Check, now: Date): boolean {
  return status === 'open' || balance_cents > 0 || now.getTime() - Date.parse(updated_at) < JUST_PAID_MS
}

/** A check as the guest with this hash sees it; claims and payments are its own, oldest first. */
export function viewAtTable(
  check: StoredCheck,
  claims: readonly Claim[],
  payments: readonly Payment[],
  guest: string | undefined,
): TableCheck {
  const { id: _id, location_id: _location, table: _table, revision: _revision, ...shown } = viewCheck(check)
  const isMine = ({ guest_hash }: { guest_hash?: string }) => guest !== undefined && guest_hash === guest
  return {
    ...shown,
    even_split_cents: check.totals.total_cents - paidByClaims(payments),
    claims: claims.filter(({ status }) => status !== 'released').map((claim) => viewed(claim, isMine(claim))),
    payments: payments.map((payment) => viewedPayment(payment, isMine(payment))),
  }
}

function viewed(claim: Claim, mine: boolean): TableClaim {
  const { id, guest_name, items, amount_cents, status, payment_id, created_at } = claim
  return { id, guest_name, items, amount_cents, status, payment_id, created_at, mine }
}

function viewedPayment(payment: Payment, mine: boolean): TablePayment {
  const { id, guest_name, claim_ids, amount_cents, tip_cents, refunded_cents, created_at } = payment
  return {
    id,
    guest_name,
    claim_ids,
    amount_cents,
    refunded_cents,
    created_at,
    tip_cents: mine ? tip_cents : null,
    mine,
  }
}

/** The payment that completes a check pays all claims that are left, but then there is nothing more to split. */
function paidByClaims(payments: readonly Payment[]): number {
  return payments
    .filter(({ claim_ids }) => claim_ids.length > 0)
    .reduce((sum, { amount_cents, refunded_cents }) => sum + amount_cents - refunded_cents, 0)
}
