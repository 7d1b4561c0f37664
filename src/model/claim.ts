/** Part of a check that a guest has taken on (contract section 3). `price_cents` is the unit price when it was claimed. */
export interface ClaimedItem {
  external_id: string
  quantity: number
  price_cents: number
}

export interface Claim {
  id: string
  check_id: string
  external_check_id: string
  /** Where the check is; together with `external_check_id` it names the check. Not shown. */
  location_id: string
  guest_name: string | null
  items: readonly ClaimedItem[]
  amount_cents: number
  status: 'active' | 'paid' | 'released'
  payment_id: string | null
  created_at: string
}

export type ClaimView = Omit<Claim, 'location_id'>

/** A claim as `GET /claims/{id}` and `claim.created` show it. */
export function viewClaim({ location_id: _location, ...view }: Claim): ClaimView {
  return view
}

/** How much of each item guests hold, by the item's external id. Released claims hold nothing. */
export function claimedQuantities(
  claims: Iterable<Claim>,
  statuses: readonly Claim['status'][],
): Map<string, number> {
  const quantities = new Map<string, number>()
  for (const claim of claims) {
    if (!statuses.includes(claim.status)) continue
    for (const { external_id, quantity } of claim.items)
      quantities.set(external_id, roundQuantity((quantities.get(external_id) ?? 0) + quantity))
  }
  return quantities
}

/** Sums of quantities stay at their three decimals, whatever binary fractions make of 0.1 + 0.2. */
export function roundQuantity(quantity: number): number {
  return Number(quantity.toFixed(3))
}
