import { viewClaim, type Claim } from '../../model/claim.ts'
import { viewFeedback, type Feedback } from '../../model/feedback.ts'
import { viewPayment, type Payment } from '../../model/payment.ts'
import { Refusal } from '../../model/refusal.ts'
import { paymentNotFound } from '../../operations/refund.ts'
import { claimNotFound } from '../../operations/release-claim.ts'
import type { Service } from '../../service.ts'
import { ok, type Call, type Route } from '../route.ts'
import { listOf } from '../list.ts'
import { given } from '../query.ts'

/** `GET /claims`, `/payments` and `/feedback`: what guests did at the key's location (contract section 4). */
export function guestRecordRoutes(service: Pick<Service, 'get' | 'list'>): Route[] {
  const row = (path: string, handle: Route['handle']): Route => ({
    method: 'GET',
    path,
    scope: 'read',
    handle,
  })
  return [
    row('/claims', (call) => listOf(service, 'claims', call, filterOf(call), viewClaim)),
    row('/claims/:id', async (call) => ok(viewClaim(await claimOf(service, call)))),
    row('/payments', (call) => listOf(service, 'payments', call, filterOf(call), viewPayment)),
    row('/payments/:id', async (call) => ok(viewPayment(await paymentOf(service, call)))),
    row('/feedback', (call) => listOf(service, 'feedback', call, filterOf(call), viewFeedback)),
    row('/feedback/:id', async (call) => ok(viewFeedback(await feedbackOf(service, call)))),
  ]
}

/** The claim that the path names. @throws Refusal `not_found`, also for one of another location. */
export async function claimOf(service: Pick<Service, 'get'>, { key, params }: Call): Promise<Claim> {
  const { id = '' } = params
  const claim = await service.get('claims', id)
  if (claim?.location_id !== key.location_id) throw claimNotFound(id)
  return claim
}

/** The payment that the path names. @throws Refusal `not_found`, also for one of another location. */
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
      `There is no feedback ${id} at this key's location. GET /feedback lists what there is.`,
    )
  return feedback
}

function filterOf({ key, query }: Call): Record<string, string> {
  return given({ location_id: key.location_id, external_check_id: query.get('external_check_id') })
}
