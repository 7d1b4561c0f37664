import { z } from 'zod'

/** The name that a guest chose: 1–255 characters, or none. It does not identify the guest. */
export const guestName = z.string().min(1).max(255).nullable().default(null)

/** The guest who made a record at the table's page. No answer shows it. */
export interface ByGuest {
  /** SHA-256, in hex, of the id that the guest's browser sends. */
  guest_hash?: string
}

/** The check of a guest's record. Answers do not show `location_id`. */
export interface OfCheck {
  check_id: string
  external_check_id: string
  location_id: string
}

/** Part of a check that a guest has taken on (contract section 3). `price_cents` is the unit price when it was claimed. */
export interface ClaimedItem {
  external_id: string
  quantity: number
  price_cents: number
}

/** Claims count in thousandths: grams of a weighed good, a third of a pizza is 0.333. */
const thousandths = z
  .number()
  .refine((value) => value === Number(value.toFixed(3)), 'must have at most 3 decimals')

/** A claim as it is stored. */
export interface Claim extends OfCheck, ByGuest {
  id: string
  guest_name: string | null
  items: readonly ClaimedItem[]
  /** What it owes by the check as it is now; from when it is paid or released on, what it owed then. */
  amount_cents: number
  status: 'active' | 'paid' | 'released'
  /** The payment that paid it, also when that was refunded since. */
  payment_id: string | null
  created_at: string
}

export type ClaimView = Omit<Claim, 'location_id' | 'guest_hash'>

/** A claim as `GET /claims/{id}` and `claim.created` show it. */
export function viewClaim({ location_id: _location, guest_hash: _guest, ...view }: Claim): ClaimView {
  return view
}

/**
 * Body of `POST /_sim/checks/{external_check_id}/claims`. Whether a quantity can be claimed, 0 and less included, is
 * not judged by the body but by the check.
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
