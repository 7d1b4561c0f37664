import { z } from 'zod'

/** Name that a guest chose: 1 to 255 characters, or none. It does not identify the guest. */
export const guestName = z.string().min(1).max(255).nullable().default(null)

/** The guest who created a record on the table's page. Responses do not show it. */
export interface ByGuest {
  /** SHA-256, in hex, of the id that the guest's browser sends. */
  guest_hash?: string
}

/** The check of a guest's record. Responses do not show `location_id`. */
export interface OfCheck {
  check_id: string
  external_check_id: string
  location_id: string
}

/** Claimed part of an item (contract section 3). `price_cents` is the unit price at the time of the claim. */
export interface ClaimedItem {
  external_id: string
  quantity: number
  price_cents: number
}

/** Quantity in thousandths, for example grams of a weighed item; a third of a pizza is 0.333. */
const thousandths = z
  .number()
  .refine((value) => value === Number(value.toFixed(3)), 'must have at most 3 decimals')

/** A claim in the store. */
export interface Claim extends OfCheck, ByGuest {
  id: string
  guest_name: string | null
  items: readonly ClaimedItem[]
  /** Active: the amount owed by the current check. Paid or released: the amount owed at that time. */
  amount_cents: number
  status: 'active' | 'paid' | 'released'
  /** The payment that paid the claim, even after a refund. */
  payment_id: string | null
  created_at: string
}

export type ClaimView = Omit<Claim, 'location_id' | 'guest_hash'>

/** Returns a claim as `GET /claims/{id}` and `claim.created` show it. */
export function viewClaim({ location_id: _location, guest_hash: _guest, ...view }: Claim): ClaimView {
  return view
}

/**
 * Body of `POST /_sim/checks/{external_check_id}/claims`. The check, not this schema, decides which quantities can be
 * claimed, 0 and less included.
 */
export const claimBody = z.object({
  guest_name: guestName,
  items: z
    .array(z.object({ external_id: z.string().min(1).max(255), quantity: thousandths }))
    .min(1)
    .max(1000)
    .refine(
      (items) => new Set(items.map((item) => item?.external_id)).size === items.length,
      'must not repeat an item',
    ),
})
export type ClaimBody = z.infer<typeof claimBody>
