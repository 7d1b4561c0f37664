import { z } from 'zod'
import { guestName, type ByGuest, type OfCheck } from './claim.ts'

/** A payment in the store (contract section 3). Money is in integer minor units. */
export interface Payment extends OfCheck, ByGuest {
  id: string
  guest_name: string | null
  /** Paid claims: the requested ones, and all active claims when the payment brought the balance to 0. */
  claim_ids: readonly string[]
  /** Amount paid to the check, without the tip. */
  amount_cents: number
  tip_cents: number
  /** Refunded part of `amount_cents`. */
  refunded_cents: number
  currency: string
  method: 'card'
  status: 'succeeded' | 'partially_refunded' | 'refunded'
  created_at: string
  /** Time of the last refund. */
  refunded_at: string | null
}

export type PaymentView = Omit<Payment, 'location_id' | 'guest_hash'>

/** Returns a payment as `GET /payments/{id}`, `payment.succeeded` and `payment.refunded` show it. */
export function viewPayment({ location_id: _location, guest_hash: _guest, ...view }: Payment): PaymentView {
  return view
}

/**
 * Body of `POST /_sim/checks/{external_check_id}/payments`: claims, or an amount, or neither for the whole balance.
 * `card` is the result of the simulated card, approved by default.
 */
export const payBody = z
  .object({
    guest_name: guestName,
    claim_ids: z
      .array(z.string().min(1).max(255))
      .min(1)
      .max(1000)
      .refine((ids) => new Set(ids).size === ids.length, 'must not repeat a claim')
      .optional(),
    amount_cents: z.int().min(1).optional(),
    tip_cents: z.int().min(0).default(0),
    card: z.enum(['approved', 'declined']).optional(),
  })
  .refine(({ claim_ids, amount_cents }) => claim_ids === undefined || amount_cents === undefined, {
    path: ['amount_cents'],
    message: 'must be omitted with claim_ids, because claims are paid in full',
    // Runs even when other fields are invalid, so that all issues are listed at once.
    when: ({ value }) => typeof value === 'object' && value !== null,
  })
export type PayBody = z.infer<typeof payBody>

/** Body of `POST /_sim/payments/{id}/refunds`. The default is the rest of the payment. */
export const refundBody = z.object({ amount_cents: z.int().min(1).optional() })
export type RefundBody = z.infer<typeof refundBody>
