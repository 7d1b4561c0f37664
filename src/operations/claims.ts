import type { Check, CheckItem } from '../model/check.ts'
import {
  type ByGuest,
  type Claim,
  type ClaimBody,
  type ClaimedItem,
  viewClaim,
} from '../model/guests/records.ts'
import type { DetailsOf } from '../model/error-details.ts'
import { unclaimedQuantity } from '../model/guests/claimed-items.ts'
import { Refusal } from '../model/refusal.ts'
import {
  addressOf,
  type CheckAddress,
  eventOf,
  foundCheck,
  guestChange,
  ofCheck,
  readsOfCheck,
} from './guest-change.ts'
import { type Operation, unchanged } from './operation.ts'

interface ClaimItems extends CheckAddress, ClaimBody, ByGuest {}

/** Reason why an item cannot be claimed. `unclaimed_quantity` is `null` for an item that the check does not have. */
type NotClaimable = DetailsOf<'not_claimable'>['items'][number]

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
  const advice = items.every(({ reason }) => reason === 'unknown_item')
    ? 'Give items by the external_id that they have in the check.'
    : 'Claim at most the unclaimed quantity of an open check, and more than 0. Discounts cannot be claimed.'
  return new Refusal('not_claimable', `Cannot claim: ${names.join(', ')}. Nothing was claimed. ${advice}`, {
    items,
  })
}

/** The claim to release; it never moves to another check. */
interface ReleaseClaim {
  claim: Pick<Claim, 'id' | 'location_id' | 'external_check_id'>
}

function readsToRelease({ claim }: ReleaseClaim) {
  return readsOfCheck(addressOf(claim))
}

/** `DELETE /_sim/claims/{id}`: releases an unpaid claim, without an event. Releasing it again changes nothing. */
export const releaseClaim = {
  reads: readsToRelease,
  decide({ checks, claims }, { claim: { id, ...address } }, { now }) {
    const before = [...claims]
    const claim = before.find((one) => one.id === id)
    if (claim === undefined) throw claimNotFound(id)
    if (claim.status === 'released') return unchanged(claim)
    if (claim.status === 'paid') throw claimNotActive([claim], 'Refund its payment in full to release it.')
    const check = foundCheck(checks, addressOf(address))
    const released: Claim = { ...claim, status: 'released' }
    const after = before.map((one) => (one === claim ? released : one))
    const { writes } = guestChange({ check, before, claims: after, paid_cents: check.paid_cents, now })
    return { reply: released, writes, events: [] }
  },
} satisfies Operation<ReleaseClaim, ReturnType<typeof readsToRelease>, Claim>

export function claimNotFound(id: string): Refusal {
  return new Refusal(
    'not_found',
    `Claim ${id} not found at this key's location. GET /claims lists the claims.`,
  )
}

/** Returns the refusal of an action that needs active claims. `advice` is a sentence. */
export function claimNotActive(claims: readonly Claim[], advice: string): Refusal {
  const names = claims.map(({ id, status }) => `${id} is ${status}`).join(', ')
  return new Refusal('claim_not_active', `Only active claims can be paid or released: ${names}. ${advice}`, {
    claims: claims.map(({ id, status, payment_id }) => ({ id, status, payment_id })),
  })
}
