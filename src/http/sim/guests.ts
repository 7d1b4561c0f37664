import {
  claimBody,
  viewClaim,
  feedbackBody,
  viewFeedback,
  payBody,
  refundBody,
  viewPayment,
} from '../../model/guests/records.ts'
import { claimItems, releaseClaim } from '../../operations/claims.ts'
import type { CheckAddress } from '../../operations/guest-change.ts'
import { leaveFeedback } from '../../operations/leave-feedback.ts'
import { pay, refund } from '../../operations/payments.ts'
import type { Service } from '../../service.ts'
import { traceParameters } from '../openapi/parameters.ts'
import { created, ok, withBody, type Call, type Documented } from '../route.ts'
import { claimOf, paymentOf } from '../v1/guest-records.ts'

/** Routes that act as a guest at the table (contract section 7). */
export function guestRoutes(service: Pick<Service, 'execute' | 'get'>): Documented[] {
  return [
    {
      method: 'POST',
      path: '/checks/:external_check_id/claims',
      scope: 'simulate',
      ...withBody(claimBody, async (body, call) =>
        created(viewClaim(await service.execute(claimItems, { ...addressOf(call), ...body }, call.trace))),
      ),
      doc: {
        id: 'claimItems',
        tag: 'Simulator guests',
        summary: 'Claim items of a check',
        description: 'Claims all given quantities, or none of them. Emits `claim.created`.',
        headers: traceParameters,
        answers: { 201: { description: 'The claim.', schema: 'Claim' } },
        errors: ['NotFound', 'NotClaimable'],
      },
    },
    {
      method: 'DELETE',
      path: '/claims/:id',
      scope: 'simulate',
      doc: {
        id: 'releaseClaim',
        tag: 'Simulator guests',
        summary: 'Release an unpaid claim',
        description: 'Releases an unpaid claim. A repeated call changes nothing. Emits no event.',
        answers: { 200: { description: 'The released claim.', schema: 'Claim' } },
        errors: ['NotFound', 'ClaimNotActive'],
      },
      handle: async (call) =>
        ok(viewClaim(await service.execute(releaseClaim, { claim: await claimOf(service, call) }))),
    },
    {
      method: 'POST',
      path: '/checks/:external_check_id/payments',
      scope: 'simulate',
      ...withBody(payBody, async (body, call) =>
        created(viewPayment(await service.execute(pay, { ...addressOf(call), ...body }, call.trace))),
      ),
      doc: {
        id: 'payCheck',
        tag: 'Simulator guests',
        summary: 'Pay claims, an amount or the balance',
        description:
          'Pays `claim_ids`, `amount_cents`, or without both the balance. Emits `payment.succeeded`, and `check.fully_paid` when the balance reaches 0.',
        headers: traceParameters,
        answers: { 201: { description: 'The payment.', schema: 'Payment' } },
        errors: ['CardDeclined', 'NotFound', 'NotPayable'],
      },
    },
    {
      method: 'POST',
      path: '/payments/:id/refunds',
      scope: 'simulate',
      ...withBody(refundBody, async (body, call) => {
        const payment = await paymentOf(service, call)
        return ok(viewPayment(await service.execute(refund, { payment, ...body }, call.trace)))
      }),
      doc: {
        id: 'refundPayment',
        tag: 'Simulator guests',
        summary: 'Refund a payment',
        description:
          'Refunds `amount_cents`, by default the rest of the payment. A full refund releases its claims. Emits `payment.refunded`.',
        headers: traceParameters,
        answers: { 200: { description: 'The payment.', schema: 'Payment' } },
        errors: ['NotFound', 'ExceedsPayment'],
      },
    },
    {
      method: 'POST',
      path: '/checks/:external_check_id/feedback',
      scope: 'simulate',
      ...withBody(feedbackBody, async (body, call) =>
        created(
          viewFeedback(await service.execute(leaveFeedback, { ...addressOf(call), ...body }, call.trace)),
        ),
      ),
      doc: {
        id: 'leaveFeedback',
        tag: 'Simulator guests',
        summary: 'Leave feedback',
        description: 'Stores a rating of the check. Emits `feedback.received`.',
        headers: traceParameters,
        answers: { 201: { description: 'The feedback.', schema: 'Feedback' } },
        errors: ['NotFound'],
      },
    },
  ]
}

function addressOf({ key, params }: Call): CheckAddress {
  return { location_id: key.location_id, external_id: params.external_check_id ?? '' }
}
