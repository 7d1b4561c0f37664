import { z } from 'zod'
import type { TableCheck, TableClaim, TablePayment, TableView } from './view.ts'
import { checkView, claimView, locationView, paymentView } from '../views.ts'

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
