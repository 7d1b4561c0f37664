import { checkKey, sameContent, viewCheck, type Check, type Push, type PushedItem } from '../model/check.ts'
import type { Claim } from '../model/claim.ts'
import { claimedQuantities, unclaimed, withClaims } from '../model/claimed-items.ts'
import type { DomainEvent } from '../model/event.ts'
import { put, type Write } from '../model/records.ts'
import { Refusal } from '../model/refusal.ts'
import { settled } from '../model/shares.ts'
import { becomesFullyPaid } from './guest-change.ts'
import { later } from './later.ts'
import { unchanged, type Context, type Decision, type Operation } from './operation.ts'
import { order } from './push-order.ts'

export interface PushCheck {
  location_id: string
  external_id: string
  push: Push
}

/** What a push came to, with the check after it and before it. */
export interface PushReply {
  outcome: 'created' | 'updated' | 'unchanged' | 'stale'
  check: Check
  before: Check | null
}

/** Why a push is refused with 409: guests have claimed what it takes away (specification section 4, rule 4). */
export interface Conflict {
  external_id: string
  reason: 'removed' | 'price_decreased' | 'quantity_below_claimed'
  claimed_quantity: number
}

function reads({ location_id, external_id }: PushCheck) {
  const key = checkKey({ location_id, external_id })
  return {
    checks: { collection: 'checks', lookup: 'external', key },
    claims: { collection: 'claims', lookup: 'check', key },
  } as const
}

/** `PUT /checks/external/{id}`: order, replay, conflict, apply (contract section 6). */
export const pushCheck = {
  reads,
  decide({ checks, claims }, command, context) {
    const [current] = checks
    const { push } = command
    if (current !== undefined) {
      const verdict = order(current, push)
      if (verdict !== 'newer')
        return unchanged({
          outcome: verdict === 'stale' ? 'stale' : 'unchanged',
          check: current,
          before: current,
        })
    }
    const held = [...claims].filter((claim) => claim.status !== 'released')
    const conflicts = conflictsOf(push.items, held)
    if (conflicts.length > 0) throw conflictRefusal(conflicts)
    return current === undefined ? create(command, context) : update(current, push, held, context)
  },
} satisfies Operation<PushCheck, ReturnType<typeof reads>, PushReply>

/**
 * What a push would take from guests. It is judged by what they claimed, at the price at which they claimed it, and not
 * by the state that the push happens to find, so that pushes in any order come to the same verdict.
 */
export function conflictsOf(items: readonly PushedItem[], held: readonly Claim[]): Conflict[] {
  if (held.length === 0) return []
  const pushed = new Map(items.map((item) => [item.external_id, item]))
  const prices = highestClaimedPrices(held)
  const conflicts: Conflict[] = []
  for (const [external_id, claimed_quantity] of claimedQuantities(held, ['active', 'paid'])) {
    const item = pushed.get(external_id)
    const conflict = (reason: Conflict['reason']) => conflicts.push({ external_id, reason, claimed_quantity })
    if (item === undefined) {
      conflict('removed')
      continue
    }
    if (item.price_cents < (prices.get(external_id) ?? item.price_cents)) conflict('price_decreased')
    if (item.quantity < claimed_quantity) conflict('quantity_below_claimed')
  }
  return conflicts
}

function highestClaimedPrices(held: readonly Claim[]): Map<string, number> {
  const prices = new Map<string, number>()
  for (const { external_id, price_cents } of held.flatMap((claim) => claim.items))
    prices.set(external_id, Math.max(prices.get(external_id) ?? price_cents, price_cents))
  return prices
}

function conflictRefusal(conflicts: readonly Conflict[]): Refusal {
  const names = conflicts.map(({ external_id, reason }) => `${external_id} (${reason})`).join(', ')
  return new Refusal(
    'conflict_with_paid_items',
    `Guests have already claimed what this push takes away: ${names}. The check is unchanged. Push it with these items kept, or have their claims released or refunded first.`,
    { conflicts },
  )
}

function create({ location_id, external_id, push }: PushCheck, context: Context): Decision<PushReply> {
  const now = context.now.toISOString()
  const check: Check = {
    id: context.newId('chk'),
    external_id,
    location_id,
    table: push.table,
    status: push.status,
    items: push.items.map(unclaimed),
    totals: push.totals,
    revision: push.revision ?? null,
    paid_cents: 0,
    balance_cents: push.totals.total_cents,
    created_at: now,
    updated_at: now,
    closed_at: push.status === 'closed' ? now : null,
  }
  const types: CheckEventType[] =
    check.status === 'closed' ? ['check.created', 'check.closed'] : ['check.created']
  return apply('created', null, check, types)
}

function update(current: Check, push: Push, held: readonly Claim[], context: Context): Decision<PushReply> {
  const now = later(current.updated_at, context.now)
  const check: Check = {
    id: current.id,
    external_id: current.external_id,
    location_id: current.location_id,
    table: push.table,
    status: push.status,
    items: withClaims(push.items, held),
    totals: push.totals,
    revision: push.revision ?? null,
    paid_cents: current.paid_cents,
    balance_cents: push.totals.total_cents - current.paid_cents,
    created_at: current.created_at,
    updated_at: now,
    closed_at: push.status === 'open' ? null : (current.closed_at ?? now),
  }
  const closes = current.status === 'open' && check.status === 'closed'
  const types: CheckEventType[] = []
  if (!closes || changesMoreThanStatus(current, push)) types.push('check.updated')
  if (closes) types.push('check.closed')
  if (becomesFullyPaid(current, check)) types.push('check.fully_paid')
  return apply('updated', current, check, types, owingOtherwise(check, held))
}

/** What active claims owe follows the prices and totals of the check. */
function owingOtherwise(check: Check, held: readonly Claim[]): Write[] {
  if (held.length === 0) return []
  return settled(check, held)
    .filter((claim, index) => claim !== held[index])
    .map((claim) => put('claims', claim))
}

/** A pure close moves the status, and the revision that it needs to do so, and nothing that guests see. */
function changesMoreThanStatus(current: Check, push: Push): boolean {
  return !sameContent({ ...push, status: current.status }, current)
}

type CheckEventType = Extract<DomainEvent['type'], `check.${string}`>

function apply(
  outcome: PushReply['outcome'],
  before: Check | null,
  check: Check,
  types: readonly CheckEventType[],
  writes: readonly Write[] = [],
): Decision<PushReply> {
  const data = viewCheck(check)
  const events = types.map((type) => ({ type, data, external_check_id: check.external_id }))
  return { reply: { outcome, check, before }, writes: [put('checks', check), ...writes], events }
}
