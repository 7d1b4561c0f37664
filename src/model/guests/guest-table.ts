import { viewCheck, type Check, type StoredCheck } from '../check.ts'
import type { Claim, ClaimView, Payment, PaymentView } from './records.ts'
import type { Location } from '../records.ts'

/** A table as one guest sees it: its checks, with all claims and payments; the guest's own ones are marked. */
export interface TableView {
  table: { number: string }
  location: Pick<Location, 'name' | 'currency' | 'timezone'>
  /** Open checks first, each group newest first. */
  checks: readonly TableCheck[]
}

export interface TableCheck extends Omit<Check, 'id' | 'location_id' | 'table' | 'revision'> {
  /** Amount for even splits: the total minus payments by claims. */
  even_split_cents: number
  /** Active and paid claims, oldest first. */
  claims: readonly TableClaim[]
  /** Oldest first. */
  payments: readonly TablePayment[]
}

export type TableClaim = Omit<ClaimView, 'check_id' | 'external_check_id'> & { mine: boolean }

/** A payment without its tip, which only the payer sees. */
export type TablePayment = Pick<
  PaymentView,
  'id' | 'guest_name' | 'claim_ids' | 'amount_cents' | 'refunded_cents' | 'created_at'
> & { tip_cents: number | null; mine: boolean }

/**
 * Milliseconds after its last change that a closed check without a balance stays visible, for the receipt and the rating.
 */
const SHOWN_AFTER_CHANGE_MS = 60 * 60 * 1000

/** Returns true when guests see the check: it is open, has a balance, or changed within the last hour. */
export function isShownAtTable({ status, balance_cents, updated_at }: Check, now: Date): boolean {
  return (
    status === 'open' || balance_cents > 0 || now.getTime() - Date.parse(updated_at) < SHOWN_AFTER_CHANGE_MS
  )
}

/** Returns a check as the guest with this hash sees it. Claims and payments are those of the check, oldest first. */
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

/**
 * Returns the sum of payments by claims. The completing payment pays all remaining claims, but then nothing is left to
 * split.
 */
function paidByClaims(payments: readonly Payment[]): number {
  return payments
    .filter(({ claim_ids }) => claim_ids.length > 0)
    .reduce((sum, { amount_cents, refunded_cents }) => sum + amount_cents - refunded_cents, 0)
}
