import type { Check, CheckItem } from '../model/check.ts'
import {
  viewClaim,
  type Claim,
  type ClaimBody,
  type ClaimedItem,
  type ByGuest,
} from '../model/guests/claim.ts'
import { unclaimedQuantity } from '../model/guests/claimed-items.ts'
import { Refusal } from '../model/refusal.ts'
import { eventOf, foundCheck, guestChange, ofCheck, readsOfCheck, type CheckAddress } from './guest-change.ts'
import type { Operation } from './operation.ts'

export interface ClaimItems extends CheckAddress, ClaimBody, ByGuest {}

/** Reason why an item cannot be claimed. `unclaimed_quantity` is `null` for an item that the check does not have. */
export interface NotClaimable {
  external_id: string
  reason: 'check_closed' | 'unknown_item' | 'discount_line' | 'quantity_not_positive' | 'exceeds_unclaimed'
  unclaimed_quantity: number | null
}

/** `POST /_sim/checks/{external_check_id}/claims`: a guest claims items of the check (contract section 7). */
export const claimItems = {
  reads: readsOfCheck,
  decide({ checks, claims }, command, { now, newId }) {
    const check = foundCheck(checks, command)
    const claim: Claim = {
      id: newId('clm'),
      ...ofCheck(check),
      guest_name: command.guest_name,
      items: claimedItems(check, command.items),
      amount_cents: 0,
      status: 'active',
      payment_id: null,
      created_at: now.toISOString(),
      ...(command.guest_hash !== undefined && { guest_hash: command.guest_hash }),
    }
    const before = [...claims]
    const after = guestChange({
      check,
      before,
      claims: [...before, claim],
      paid_cents: check.paid_cents,
      now,
    })
    const reply = after.claims.at(-1) ?? claim
    return {
      reply,
      writes: after.writes,
      events: [eventOf(check, 'claim.created', viewClaim(reply))],
    }
  },
} satisfies Operation<ClaimItems, ReturnType<typeof readsOfCheck>, Claim>

/** @throws Refusal `not_claimable` that lists all items that cannot be claimed. */
function claimedItems(check: Check, wanted: ClaimBody['items']): ClaimedItem[] {
  const known = new Map(check.items.map((item) => [item.external_id, item]))
  const items: ClaimedItem[] = []
  const refused: NotClaimable[] = []
  for (const { external_id, quantity } of wanted) {
    const item = known.get(external_id)
    const reason = whyNot(check, item, quantity)
    const unclaimed_quantity = item === undefined ? null : unclaimedQuantity(item)
    if (reason !== undefined) refused.push({ external_id, reason, unclaimed_quantity })
    else items.push({ external_id, quantity, price_cents: item?.price_cents ?? 0 })
  }
  if (refused.length > 0) throw notClaimable(refused)
  return items
}

function whyNot(
  { status }: Check,
  item: CheckItem | undefined,
  quantity: number,
): NotClaimable['reason'] | undefined {
  if (status === 'closed') return 'check_closed'
  if (item === undefined) return 'unknown_item'
  if (item.price_cents < 0) return 'discount_line'
  if (quantity <= 0) return 'quantity_not_positive'
  return quantity > unclaimedQuantity(item) ? 'exceeds_unclaimed' : undefined
}

function notClaimable(items: readonly NotClaimable[]): Refusal {
  const names = items.map(({ external_id, reason, unclaimed_quantity }) =>
    reason === 'exceeds_unclaimed'
      ? `${external_id} (${reason}: ${unclaimed_quantity} left)`
      : `${external_id} (${reason})`,
  )
  return new Refusal(
    'not_claimable',
    `Cannot claim: ${names.join(', ')}. Nothing was claimed. Claim at most the unclaimed quantity of an open check.`,
    { items },
  )
}
