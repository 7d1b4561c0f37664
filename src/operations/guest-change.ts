import { checkKey, viewCheck, type Check } from '../model/check.ts'
import { type Claim, type OfCheck } from '../model/guests/records.ts'
import { isFullyPaid, withClaims } from '../model/guests/claimed-items.ts'
import type { DomainEvent } from '../model/event.ts'
import { put, type Write } from '../model/records.ts'
import { Refusal } from '../model/refusal.ts'
import { repriceClaims } from '../model/guests/shares.ts'

/** Identifies the check of a guest's action. */
export interface CheckAddress {
  location_id: string
  external_id: string
}

/** Returns the reads of a push and of the guest actions about items and money: the check and all of its claims. */
export function readsOfCheck(address: CheckAddress) {
  const key = checkKey(address)
  return {
    checks: { collection: 'checks', index: 'external', key },
    claims: { collection: 'claims', index: 'check', key },
  } as const
}

/**
 * Returns the check that a read found.
 * @throws Refusal `not_found` when there is none.
 */
export function foundCheck([check]: Iterable<Check>, { external_id }: CheckAddress): Check {
  if (check === undefined) throw checkNotFound(external_id)
  return check
}

export function checkNotFound(external_id: string): Refusal {
  return new Refusal(
    'not_found',
    `Check ${JSON.stringify(external_id)} not found at this key's location. Push it first.`,
  )
}

/** Returns the address of the check of a guest's record. */
export function addressOf({ location_id, external_check_id }: Omit<OfCheck, 'check_id'>): CheckAddress {
  return { location_id, external_id: external_check_id }
}

/** Returns the fields of a check that guests' records repeat. */
export function ofCheck({ id, external_id, location_id }: Check): OfCheck {
  return { check_id: id, external_check_id: external_id, location_id }
}

/** A change of a check by guests. */
interface GuestChange {
  check: Check
  /** All stored claims of the check, oldest first. */
  before: readonly Claim[]
  /** All claims after the change; a new claim comes last. */
  claims: readonly Claim[]
  /** Paid amount after the change, minus refunds. */
  paid_cents: number
  now: Date
}

/**
 * Applies a guest action: updates quantities, paid amount, balance, `updated_at` and the amounts of active claims. It
 * emits no `check.updated`, which reports pushes only (contract sections 6 and 7).
 */
export function guestChange(change: GuestChange): { check: Check; claims: Claim[]; writes: Write[] } {
  const { paid_cents, before } = change
  const money = { paid_cents, balance_cents: change.check.totals.total_cents - paid_cents }
  const check: Check = {
    ...change.check,
    ...money,
    items: withClaims(change.check.items, change.claims, isFullyPaid(money)),
    updated_at: nextUpdatedAt(change.check.updated_at, change.now),
  }
  const claims = repriceClaims(check, change.claims)
  return { check, claims, writes: [put('checks', check), ...changedClaims(before, claims)] }
}

/** Returns the writes of claims that differ from the stored ones. */
export function changedClaims(stored: readonly Claim[], claims: readonly Claim[]): Write[] {
  const known = new Set(stored)
  return claims.filter((claim) => !known.has(claim)).map((claim) => put('claims', claim))
}

/** Returns true when a change brings the balance to 0 with something paid: `check.fully_paid`, once per crossing. */
export function becomesFullyPaid(before: Check, after: Check): boolean {
  return before.balance_cents > 0 && isFullyPaid(after)
}

/** Returns the event `check.fully_paid` when the change completes the check. */
export function fullyPaidEvents(before: Check, after: Check): DomainEvent[] {
  if (!becomesFullyPaid(before, after)) return []
  return [eventOf(after, 'check.fully_paid', viewCheck(after))]
}

/** Returns an event of a check, or of a guest's record, with its view. */
export function eventOf(check: Check, type: DomainEvent['type'], view: object): DomainEvent {
  return {
    type,
    location_id: check.location_id,
    json: JSON.stringify(view),
    external_check_id: check.external_id,
  }
}

/**
 * Returns the time of a change: now, but at least a millisecond after the last change. So newer states have later
 * times.
 */
export function nextUpdatedAt(last: string, now: Date): string {
  return new Date(Math.max(now.getTime(), Date.parse(last) + 1)).toISOString()
}
