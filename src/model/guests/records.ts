import { unrepeated } from '../validation.ts'
import { z } from 'zod'

/** Name that a guest chose: 1 to 255 characters, or none. It does not identify the guest. */
const guestName = z.string().min(1).max(255).nullable().default(null)

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
export const claimBody = z.strictObject({
  guest_name: guestName,
  items: z
    .array(z.strictObject({ external_id: z.string().min(1).max(255), quantity: thousandths }))
    .min(1)
    .max(1000)
    .refine(...unrepeated('must not repeat an item', (item: { external_id: string }) => item?.external_id)),
})
export type ClaimBody = z.infer<typeof claimBody>

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
  .strictObject({
    guest_name: guestName,
    claim_ids: z
      .array(z.string().min(1).max(255))
      .min(1)
      .max(1000)
      .refine(...unrepeated('must not repeat a claim'))
      .meta({ uniqueItems: true })
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
export const refundBody = z.strictObject({ amount_cents: z.int().min(1).optional() })
export type RefundBody = z.infer<typeof refundBody>

/** A rating in the store (contract section 3). */
export interface Feedback extends OfCheck {
  id: string
  guest_name: string | null
  /** 1 (worst) to 5 (best). */
  rating: number
  comment: string | null
  created_at: string
}

export type FeedbackView = Omit<Feedback, 'location_id'>

/** Returns feedback as `GET /feedback/{id}` and `feedback.received` show it. */
export function viewFeedback({ location_id: _location, ...view }: Feedback): FeedbackView {
  return view
}

/** Body of `POST /_sim/checks/{external_check_id}/feedback`. A comment has at most 1,000 characters. */
export const feedbackBody = z.strictObject({
  guest_name: guestName,
  rating: z.int().min(1).max(5),
  comment: z.string().max(1000).nullable().default(null),
})
export type FeedbackBody = z.infer<typeof feedbackBody>
