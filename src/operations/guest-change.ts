import { checkKey, viewCheck, type Check } from '../model/check.ts'
import { type Claim, type OfCheck } from '../model/guests/claim.ts'
import { isFullyPaid, withClaims } from '../model/guests/claimed-items.ts'
import type { DomainEvent } from '../model/event.ts'
import { put, type Write } from '../model/records.ts'
import { Refusal } from '../model/refusal.ts'
import { settled } from '../model/guests/shares.ts'

/** Whose check it is that guests do something with. */
export interface CheckAddress {
  location_id: string
  external_id: string
}

/** What every change by guests needs to see: the check and all of its claims. */
export function readsOfCheck(address: CheckAddress) {
  const key = checkKey(address)
  return {
    checks: { collection: 'checks', lookup: 'external', key },
    claims: { collection: 'claims', lookup: 'check', key },
  } as const
}

/** The check that a lookup has found. @throws Refusal `not_found` when it has found none. */
export function foundCheck([check]: Iterable<Check>, { external_id }: CheckAddress): Check {
  if (check === undefined) throw checkNotFound(external_id)
  return check
}

export function checkNotFound(external_id: string): Refusal {
  return new Refusal(
    'not_found',
    `There is no check ${JSON.stringify(external_id)} at this key's location. Push it first.`,
  )
}

/** What records of guests carry of the check that they belong to. */
export function ofCheck({ id, external_id, location_id }: Check): OfCheck {
  return { check_id: id, external_check_id: external_id, location_id }
}

/** What guests change of a check. */
interface GuestChange {
  check: Check
  /** All claims of the check, oldest first, as they are stored. */
  before: readonly Claim[]
  /** The same after the change; a new one comes last. */
  claims: readonly Claim[]
  /** What has been paid after the change, refunds taken off. */
  paid_cents: number
  now: Date
}

/**
 * The check after a change by guests: quantities, paid and balance move with it, `updated_at` forward, and each active
 * claim owes what it then does. No `check.updated` comes of it: that tells of pushes (contract sections 6 and 7).
 */
export function guestChange(change: GuestChange): { check: Check; claims: Claim[]; writes: Write[] } {
  const { paid_cents, before } = change
  const money = { paid_cents, balance_cents: change.check.totals.total_cents - paid_cents }
  const check: Check = {
    ...change.check,
    ...money,
    items: withClaims(change.check.items, change.claims, isFullyPaid(money)),
    updated_at: later(change.check.updated_at, change.now),
  }
  const claims = settled(check, change.claims)
  const stored = new Set(before)
  const moved = claims.filter((claim) => !stored.has(claim))
  return { check, claims, writes: [put('checks', check), ...moved.map((claim) => put('claims', claim))] }
}

/** Whether a change brings the balance to 0 with something paid: `check.fully_paid`, once per crossing. */
export function becomesFullyPaid(before: Check, after: Check): boolean {
  return before.balance_cents > 0 && isFullyPaid(after)
}

/** `check.fully_paid`, when it is time for it. */
export function fullyPaid(before: Check, after: Check): DomainEvent[] {
  if (!becomesFullyPaid(before, after)) return []
  return [eventOf(after, 'check.fully_paid', viewCheck(after))]
}

/** What has happened to a check, or to what guests have of it, with the view of that. */
export function eventOf(check: Check, type: DomainEvent['type'], data: object): DomainEvent {
  return { type, location_id: check.location_id, data, external_check_id: check.external_id }
}

/** The time of a change: now, but a millisecond after the last one at least, so that newer states carry later times. */
export function later(last: string, now: Date): string {
  return new Date(Math.max(now.getTime(), Date.parse(last) + 1)).toISOString()
}
