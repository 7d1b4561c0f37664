import { z } from 'zod'
import type { TableCheck, TableClaim, TablePayment, TableView } from './guest-table.ts'
import { checkView, claimView, locationView, paymentView } from '../views.ts'
import { claimBody, feedbackBody, payBody } from './records.ts'

/** Schema of a claim as guests see it. Released claims are not shown. */
export const tableClaimView = claimView.omit({ check_id: true, external_check_id: true }).extend({
  status: claimView.shape.status.exclude(['released']),
  mine: z.boolean(),
}) satisfies z.ZodType<TableClaim>

/** Schema of a payment as guests see it. */
export const tablePaymentView = paymentView
  .pick({
    id: true,
    guest_name: true,
    claim_ids: true,
    amount_cents: true,
    refunded_cents: true,
    created_at: true,
  })
  .extend({
    tip_cents: paymentView.shape.tip_cents.nullable(),
    mine: z.boolean(),
  }) satisfies z.ZodType<TablePayment>

/** Schema of a check as guests see it. */
export const tableCheckView = checkView
  .omit({ id: true, location_id: true, table: true, revision: true })
  .extend({
    even_split_cents: z.int(),
    claims: z.array(tableClaimView),
    payments: z.array(tablePaymentView),
  }) satisfies z.ZodType<TableCheck>

/** Schema of the data on a table's page. */
export const tableView = z.strictObject({
  table: checkView.shape.table,
  location: locationView.pick({ name: true, currency: true, timezone: true }),
  checks: z.array(tableCheckView),
}) satisfies z.ZodType<TableView>

/** A table can have several checks, so each request names its check. */
const ofCheck = { external_check_id: z.string().min(1).max(255) }

/** Bodies of requests from a table's page: the fields of the `/_sim` bodies, and the check. */
export const tableClaimBody = claimBody.safeExtend(ofCheck)
export const tableFeedbackBody = feedbackBody.safeExtend(ofCheck)

/** Adds the amount that the page showed, and the number that makes a repeat harmless. */
export const tablePayBody = payBody.safeExtend({
  ...ofCheck,
  expected_cents: z.int().min(0).optional(),
  payment_number: z.int().min(1).optional(),
})
