import { claimBody, viewClaim } from '../../model/claim.ts'
import { feedbackBody, viewFeedback } from '../../model/feedback.ts'
import { payBody, refundBody, viewPayment } from '../../model/payment.ts'
import { validate } from '../../model/validation.ts'
import { claimItems } from '../../operations/claim-items.ts'
import type { CheckAddress } from '../../operations/guest-change.ts'
import { leaveFeedback } from '../../operations/leave-feedback.ts'
import { pay } from '../../operations/pay.ts'
import { refund } from '../../operations/refund.ts'
import { releaseClaim } from '../../operations/release-claim.ts'
import type { Service } from '../../service.ts'
import { claimOf, paymentOf } from '../v1/guest-records.ts'
import { externalId } from '../query.ts'
import { created, ok, type Call, type Route, simulatorRow } from '../route.ts'

/** What guests do at the table (contract section 7). */
export function guestRoutes(service: Pick<Service, 'execute' | 'get'>): Route[] {
  return [
    simulatorRow('POST', '/checks/:external_check_id/claims', async (call) => {
      const command = { ...addressOf(call), ...validate(claimBody, await call.body()) }
      return created(viewClaim(await service.execute(claimItems, command)))
    }),
    simulatorRow('DELETE', '/claims/:id', async (call) =>
      ok(viewClaim(await service.execute(releaseClaim, { claim: await claimOf(service, call) }))),
    ),
    simulatorRow('POST', '/checks/:external_check_id/payments', async (call) => {
      const command = { ...addressOf(call), ...validate(payBody, await call.body()) }
      return created(viewPayment(await service.execute(pay, command)))
    }),
    simulatorRow('POST', '/payments/:id/refunds', async (call) => {
      const body = validate(refundBody, await call.body())
      const payment = await paymentOf(service, call)
      return ok(viewPayment(await service.execute(refund, { payment, ...body })))
    }),
    simulatorRow('POST', '/checks/:external_check_id/feedback', async (call) => {
      const command = { ...addressOf(call), ...validate(feedbackBody, await call.body()) }
      return created(viewFeedback(await service.execute(leaveFeedback, command)))
    }),
  ]
}

function addressOf({ key, params }: Call): CheckAddress {
  return { location_id: key.location_id, external_id: externalId(params.external_check_id ?? '') }
}
