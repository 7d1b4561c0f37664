import type { Check, OrderedPush, Push, PushedItem } from '../../src/model/check.ts'
import type { Claim } from '../../src/model/guests/records.ts'
import { Refusal } from '../../src/model/refusal.ts'
import type { Context, Decision } from '../../src/operations/operation.ts'
import { pushCheck, type PushReply } from '../../src/operations/push-check.ts'

export const noon = new Date('2026-11-21T12:00:00.000Z')

export const burger: PushedItem = {
  external_id: 'burger',
  name: 'Burger',
  quantity: 2,
  price_cents: 1500,
  note: null,
}
export const fries: PushedItem = {
  external_id: 'fries',
  name: 'Fries',
  quantity: 1,
  price_cents: 500,
  note: null,
}

/** A push of two burgers and fries, 35.00 in all, or of something else where `change` says so. */
export function push(change: Partial<Push> = {}): Push {
  return {
    table: { number: '12' },
    status: 'open',
    items: [burger, fries],
    totals: { subtotal_cents: 3500, tax_cents: 0, total_cents: 3500 },
    ...change,
  }
}

/** An active claim of one burger at today's price, or of something else where `change` says so. */
export function claim(change: Partial<Claim> = {}): Claim {
  return {
    id: 'clm_1',
    check_id: 'chk_1',
    external_check_id: 'c-1',
    location_id: 'loc_1',
    guest_name: null,
    items: [{ external_id: 'burger', quantity: 1, price_cents: 1500 }],
    amount_cents: 1500,
    status: 'active',
    payment_id: null,
    created_at: noon.toISOString(),
    ...change,
  }
}

/** The check as some pushes, in order, leave it. */
export function checkAfter(...pushes: readonly OrderedPush[]): Check {
  const check = pushes.reduce<Check | undefined>(
    (before, next) => decide(before, next).reply.check,
    undefined,
  )
  if (check === undefined) throw new Error('a check is made by a push at least')
  return check
}

/** Returns the decision for a push to a check (or none) with these claims. */
export function decide(
  check: Check | undefined,
  pushed: OrderedPush,
  claims: readonly Claim[] = [],
  now: Date = noon,
  order_by = 'revision',
): Decision<PushReply> {
  const command = { location_id: 'loc_1', external_id: 'c-1', push: pushed, order_by }
  return pushCheck.decide({ checks: check === undefined ? [] : [check], claims }, command, context(now))
}

/** The refusal of a push, or undefined if it is taken. */
export function refusalOf(attempt: () => unknown): Refusal | undefined {
  try {
    attempt()
    return undefined
  } catch (error) {
    if (error instanceof Refusal) return error
    throw error
  }
}

function context(now: Date): Context {
  return { now, newId: (prefix) => `${prefix}_1`, newSecret: () => 'whsec_1', generation: 0 }
}
