import { z } from 'zod'
import type { RefusalCode } from './refusal.ts'
import { stateRecords } from './simulator/state-records.ts'

const { external_id } = stateRecords.checks.shape
const { id, status, payment_id } = stateRecords.claims.shape

/** Fields of error bodies by code, besides `code`, `message` and `request_id` (contract sections 4 and 7). */
export const errorDetails = {
  validation_failed: { issues: z.array(z.strictObject({ path: z.string(), message: z.string() })).min(1) },
  insufficient_scope: { required_scope: z.string() },
  method_not_allowed: { allow: z.string() },
  payload_too_large: { limit: z.int() },
  rate_limited: { retry_after_seconds: z.int().min(1) },
  conflict_with_paid_items: {
    conflicts: z
      .array(
        z.strictObject({
          external_id,
          reason: z.enum(['removed', 'price_decreased', 'quantity_below_claimed']),
          claimed_quantity: z.number(),
        }),
      )
      .min(1),
  },
  not_claimable: {
    items: z
      .array(
        z.strictObject({
          external_id,
          reason: z.enum([
            'check_closed',
            'unknown_item',
            'discount_line',
            'quantity_not_positive',
            'exceeds_unclaimed',
          ]),
          unclaimed_quantity: z.number().nullable(),
        }),
      )
      .min(1),
  },
  claim_not_active: { claims: z.array(z.strictObject({ id, status, payment_id })).min(1) },
  exceeds_balance: { balance_cents: z.int() },
  exceeds_payment: { refundable_cents: z.int() },
  amount_changed: { amount_cents: z.int() },
} as const satisfies Partial<Record<RefusalCode, z.ZodRawShape>>

/** Fields of the error body of a code, besides `code`, `message` and `request_id`; none for a union of codes. */
export type DetailsOf<Code> = [Code] extends [keyof typeof errorDetails]
  ? { readonly [Field in keyof (typeof errorDetails)[Code]]: z.output<(typeof errorDetails)[Code][Field]> }
  : unknown

/** Returns the schema of an error body with this code (contract section 3). */
export function errorSchema(code: string): z.ZodType {
  const details: z.ZodRawShape = Object.entries(errorDetails).find(([name]) => name === code)?.[1] ?? {}
  return z.strictObject({
    error: z.strictObject({
      code: z.literal(code),
      message: z.string(),
      request_id: z.string(),
      ...details,
    }),
  })
}
