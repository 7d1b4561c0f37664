import { activityOf } from '../../model/simulator/activity.ts'
import { viewDelivery, type Delivery } from '../../model/delivery.ts'
import { queryNames } from '../../model/simulator/list-queries.ts'
import { Refusal } from '../../model/refusal.ts'
import { invalid } from '../../model/validation.ts'
import { resendDelivery } from '../../operations/resend-delivery.ts'
import type { Service } from '../../service.ts'
import { created, ok, type Call, type Reply, type Route } from '../route.ts'
import { listOf } from '../list.ts'
import { choiceOf, given, searchIn } from '../query.ts'
import type { SentSignature } from '../../model/sent-signature.ts'
import { sign } from '../../signature/sign.ts'

/** `/_sim/deliveries`: what was sent, and sending it again (contract sections 9 and 10). */
export function deliveryRoutes(service: Service): Route[] {
  return [
    {
      method: 'GET',
      path: '/deliveries',
      scope: 'simulate',
      query: queryNames.deliveries,
      handle: (call) => listDeliveries(service, call),
    },
    {
      method: 'GET',
      path: '/deliveries/activity',
      scope: 'simulate',
      query: queryNames.activity,
      handle: (call) => showActivity(service, call),
    },
    {
      method: 'GET',
      path: '/deliveries/:id',
      scope: 'simulate',
      handle: async (call) => ok(viewDelivery(await deliveryOf(service, call))),
    },
    {
      method: 'GET',
      path: '/deliveries/:id/signature',
      scope: 'simulate',
      handle: async (call) => ok(await sentSignature(service, await deliveryOf(service, call))),
    },
    {
      method: 'POST',
      path: '/deliveries/:id/resend',
      scope: 'simulate',
      handle: (call) => resend(service, call),
    },
  ]
}

const statuses: readonly Delivery['status'][] = ['pending', 'delivered', 'dead']

/** Where `?q=` is looked for: what a delivery is about, and what came of its first attempt. */
const searched = [
  'id',
  'event_id',
  'event_type',
  'endpoint_id',
  'external_check_id',
  'attempts.0.outcome',
  'attempts.0.response_status',
]

/** As many deliveries as are looked at in a hundredth of a second. */
const CHARTED = 2_000

async function showActivity(service: Service, call: Call): Promise<Reply> {
  const search = searchIn(searched, call.query)
  const { data } = await service.list('deliveries', { where: filterOf(call), search, limit: CHARTED })
  return ok(activityOf(data))
}

function listDeliveries(service: Service, call: Call): Promise<Reply> {
  return listOf(service, 'deliveries', call, filterOf(call), viewDelivery, searched)
}

function filterOf(call: Call): Record<string, string> {
  return given({
    status: choiceOf(call.query, 'status', statuses),
    endpoint_id: call.query.get('endpoint_id'),
    event_id: call.query.get('event_id'),
    event_type: call.query.get('type'),
    external_check_id: call.query.get('external_check_id'),
  })
}

async function deliveryOf(service: Service, { params }: Call): Promise<Delivery> {
  const delivery = await service.get('deliveries', params.id ?? '')
  if (delivery !== undefined) return delivery
  throw new Refusal(
    'not_found',
    'There is no such delivery, or no more: finished ones are kept up to a limit.',
  )
}

async function resend(service: Service, call: Call): Promise<Reply> {
  const fresh = freshOf(await call.body())
  const delivery = await deliveryOf(service, call)
  return created(viewDelivery(await service.execute(resendDelivery, { delivery, fresh })))
}

/** `{}` and `{fresh: true}` sign with the present time; `{fresh: false}` repeats the header of the first attempt. */
function freshOf(body: unknown): boolean {
  if (typeof body !== 'object' || body === null || Array.isArray(body))
    throw invalid([{ path: 'body', message: 'must be an object: {}' }])
  const { fresh = true } = body as { fresh?: unknown }
  if (typeof fresh === 'boolean') return fresh
  throw invalid([{ path: 'fresh', message: 'must be true or false, or left out, which means true' }])
}

/**
 * What stood in the signature header of a delivery's latest attempt: it follows from what is kept, and holds no secret.
 * @throws Refusal `not_found` before the first attempt, and where what it follows from is gone.
 */
export async function sentSignature(
  service: Pick<Service, 'get'>,
  { id, event_id, endpoint_id, attempts }: Delivery,
): Promise<SentSignature> {
  const last = attempts.at(-1)
  if (last === undefined) throw gone(`Delivery ${id} has not been attempted yet.`)
  if (last.signed_at === undefined)
    throw gone(`Delivery ${id} was attempted by a version that did not keep what its header is made of.`)
  const [event, endpoint] = await Promise.all([
    service.get('events', event_id),
    service.get('endpoints', endpoint_id),
  ])
  if (event === undefined || endpoint === undefined)
    throw gone(`The event or the endpoint of delivery ${id} is no longer there.`)
  const { body: payload } = event
  const signed = { payload, secret: endpoint.signing_secret, timestamp: last.signed_at }
  return { attempt: last.number, signature: sign(signed) }
}

function gone(message: string): Refusal {
  return new Refusal('not_found', message)
}
