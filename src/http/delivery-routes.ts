import { activityOf } from '../model/activity.ts'
import { viewDelivery, type Delivery } from '../model/delivery.ts'
import { queryNames } from '../model/list-queries.ts'
import { Refusal } from '../model/refusal.ts'
import { invalid } from '../model/validation.ts'
import { resendDelivery } from '../operations/resend-delivery.ts'
import type { Service } from '../service.ts'
import { listOf } from './list.ts'
import { choiceOf, given, searchIn } from './query.ts'
import { created, ok, type Call, type Reply, type Route } from './route.ts'
import { sentSignature } from './sent-signature.ts'

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

/** `{}`, `{fresh: true}`: signed anew; `{fresh: false}`: verbatim. */
function freshOf(body: unknown): boolean {
  if (typeof body !== 'object' || body === null || Array.isArray(body))
    throw invalid([{ path: 'body', message: 'must be an object: {}' }])
  const { fresh = true } = body as { fresh?: unknown }
  if (typeof fresh === 'boolean') return fresh
  throw invalid([{ path: 'fresh', message: 'must be true or false, or left out, which means true' }])
}
