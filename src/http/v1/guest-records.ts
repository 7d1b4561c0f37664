import {
  viewClaim,
  type Claim,
  viewFeedback,
  type Feedback,
  viewPayment,
  type Payment,
} from '../../model/guests/records.ts'
import { Refusal } from '../../model/refusal.ts'
import type { ClaimsQuery } from '../../model/simulator/list-queries.ts'
import { paymentNotFound } from '../../operations/payments.ts'
import { claimNotFound } from '../../operations/claims.ts'
import type { Service } from '../../service.ts'
import { listOf, paging, definedFields } from '../list.ts'
import { listDoc } from '../openapi/operation.ts'
import { ok, type Call, type Documented, type QueryOf } from '../route.ts'

/** Routes that read claims, payments and feedback at the key's location (contract section 4). */
export function guestRecordRoutes(service: Pick<Service, 'get' | 'list'>): Documented[] {
  const query = { external_check_id: 'external_check_id', ...paging } satisfies QueryOf<ClaimsQuery>
  return [
    {
      method: 'GET',
      path: '/claims',
      scope: 'read',
      query,
      doc: listDoc({
        id: 'listClaims',
        tag: 'Claims',
        summary: 'List claims',
        description: "Lists the claims of all checks at the key's location.",
        of: 'Claim',
      }),
      handle: (call) => listOf(service, 'claims', call, { where: ofCheckFilter(call), view: viewClaim }),
    },
    {
      method: 'GET',
      path: '/claims/:id',
      scope: 'read',
      doc: {
        id: 'getClaim',
        tag: 'Claims',
        summary: 'Retrieve a claim',
        answers: { 200: { description: 'The claim.', schema: 'Claim' } },
        errors: ['NotFound'],
      },
      handle: async (call) => ok(viewClaim(await claimOf(service, call))),
    },
    {
      method: 'GET',
      path: '/payments',
      scope: 'read',
      query,
      doc: listDoc({
        id: 'listPayments',
        tag: 'Payments',
        summary: 'List payments',
        description: "Lists the payments of all checks at the key's location.",
        of: 'Payment',
      }),
      handle: (call) => listOf(service, 'payments', call, { where: ofCheckFilter(call), view: viewPayment }),
    },
    {
      method: 'GET',
      path: '/payments/:id',
      scope: 'read',
      doc: {
        id: 'getPayment',
        tag: 'Payments',
        summary: 'Retrieve a payment',
        answers: { 200: { description: 'The payment.', schema: 'Payment' } },
        errors: ['NotFound'],
      },
      handle: async (call) => ok(viewPayment(await paymentOf(service, call))),
    },
    {
      method: 'GET',
      path: '/feedback',
      scope: 'read',
      query,
      doc: listDoc({
        id: 'listFeedback',
        tag: 'Feedback',
        summary: 'List feedback',
        description: "Lists the feedback of all checks at the key's location.",
        of: 'Feedback',
      }),
      handle: (call) => listOf(service, 'feedback', call, { where: ofCheckFilter(call), view: viewFeedback }),
    },
    {
      method: 'GET',
      path: '/feedback/:id',
      scope: 'read',
      doc: {
        id: 'getFeedback',
        tag: 'Feedback',
        summary: 'Retrieve feedback',
        answers: { 200: { description: 'The feedback.', schema: 'Feedback' } },
        errors: ['NotFound'],
      },
      handle: async (call) => ok(viewFeedback(await feedbackOf(service, call))),
    },
  ]
}

/** Returns the claim of the path. @throws Refusal `not_found`, also for a claim of another location. */
export async function claimOf(service: Pick<Service, 'get'>, { key, params }: Call): Promise<Claim> {
  const { id = '' } = params
  const claim = await service.get('claims', id)
  if (claim?.location_id !== key.location_id) throw claimNotFound(id)
  return claim
}

/** Returns the payment of the path. @throws Refusal `not_found`, also for a payment of another location. */
export async function paymentOf(service: Pick<Service, 'get'>, { key, params }: Call): Promise<Payment> {
  const { id = '' } = params
  const payment = await service.get('payments', id)
  if (payment?.location_id !== key.location_id) throw paymentNotFound(id)
  return payment
}

async function feedbackOf(service: Pick<Service, 'get'>, { key, params }: Call): Promise<Feedback> {
  const { id = '' } = params
  const feedback = await service.get('feedback', id)
  if (feedback?.location_id !== key.location_id)
    throw new Refusal(
      'not_found',
      `Feedback ${id} not found at this key's location. GET /feedback lists the feedback.`,
    )
  return feedback
}

/** Reads `?external_check_id=`, at the key's location. */
export function ofCheckFilter({ key, query }: Call): Record<string, string> {
  return definedFields({ location_id: key.location_id, external_check_id: query.get('external_check_id') })
}
