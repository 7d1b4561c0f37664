import { z } from 'zod'
import type { TableCheck, TableClaim, TablePayment, TableView } from './view.ts'
import { checkView, claimView, locationView, paymentView } from '../views.ts'
import { claimBody } from '../guests/claim.ts'
import { feedbackBody } from '../guests/feedback.ts'
import { payBody } from '../guests/payment.ts'

/** What a guest sees of a claim, as a schema: one that is released holds nothing, and is not shown. */
export const tableClaimView = claimView.omit({ check_id: true, external_check_id: true }).extend({
  status: claimView.shape.status.exclude(['released']),
  mine: z.boolean(),
}) satisfies z.ZodType<TableClaim>

/** What a guest sees of a payment. */
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

/** What a guest sees of a check. */
export const tableCheckView = checkView
  .omit({ id: true, location_id: true, table: true, revision: true })
  .extend({
    even_split_cents: z.int(),
    claims: z.array(tableClaimView),
    payments: z.array(tablePaymentView),
  }) satisfies z.ZodType<TableCheck>

/** All that the page of a table shows to a guest. */
export const tableView = z.strictObject({
  table: checkView.shape.table,
  location: locationView.pick({ name: true, currency: true, timezone: true }),
  checks: z.array(tableCheckView),
}) satisfies z.ZodType<TableView>

/** At a table there may be several checks, so each request names the one it means. */
const ofCheck = { external_check_id: z.string().min(1).max(255) }

/** Bodies of the requests that a table's page makes: those of `/_sim`, and the check. */
export const tableClaimBody = claimBody.safeExtend(ofCheck)
export const tableFeedbackBody = feedbackBody.safeExtend(ofCheck)

/** Besides: what the guest was told to pay, and how the simulated card takes it. */
export const tablePayBody = payBody.safeExtend({
  ...ofCheck,
  expected_cents: z.int().min(0).optional(),
  card: z.enum(['approved', 'declined']).default('approved'),
})
