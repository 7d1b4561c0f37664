import type { Delivery } from '../../model/delivery.ts'
import type { DeliveryFilter, TimeFilter } from '../../model/simulator/list-queries.ts'
import type { ResendPlan, skipReasons } from '../../model/simulator/sent-request.ts'
import type { Service } from '../../service.ts'
import { inBatches } from '../list.ts'
import { ok, type Call, type Documented, type QueryOf } from '../route.ts'
import { deliveryFilter, deliveryTimes, selectionOf } from './deliveries.ts'

/** Route that plans the resend of all dead deliveries that match filters. */
export function resendRoutes(service: Pick<Service, 'get' | 'find' | 'list'>): Documented[] {
  return [
    {
      method: 'GET',
      path: '/deliveries/resend-plan',
      scope: 'simulate',
      query: { ...deliveryFilter, ...deliveryTimes } satisfies QueryOf<DeliveryFilter & TimeFilter>,
      doc: {
        id: 'getResendPlan',
        tag: 'Simulator inspector',
        internal: true,
        summary: 'List the dead deliveries to resend',
        description:
          'Returns the ids of the dead deliveries that match the filters and can be resent. Counts the others by reason.',
        answers: { 200: { description: 'The plan. Nothing is resent.', schema: 'ResendPlan' } },
      },
      handle: async (call) => ok(await planResend(service, call)),
    },
  ]
}

async function planResend(service: Pick<Service, 'get' | 'find' | 'list'>, call: Call): Promise<ResendPlan> {
  const skipped = { endpoint_disabled: 0, endpoint_removed: 0, covered: 0, ping: 0 }
  const planned = new Map<string, string>()
  const { where, ...selection } = selectionOf(call)
  const dead = { ...selection, where: { ...where, status: 'dead' } }
  for await (const batch of inBatches(service, 'deliveries', dead, call.gone())) {
    for (const delivery of batch) {
      const subject = `${delivery.event_id} ${delivery.endpoint_id}`
      const reason = planned.has(subject) ? 'covered' : await reasonToSkip(service, delivery)
      if (reason === undefined) planned.set(subject, delivery.id)
      else skipped[reason] += 1
    }
  }
  return { ids: [...planned.values()].reverse(), skipped }
}

async function reasonToSkip(
  service: Pick<Service, 'get' | 'find'>,
  { event_type, event_id, endpoint_id }: Delivery,
): Promise<(typeof skipReasons)[number] | undefined> {
  if (event_type === 'ping') return 'ping'
  const endpoint = await service.get('endpoints', endpoint_id)
  if (endpoint === undefined) return 'endpoint_removed'
  if (endpoint.status === 'disabled') return 'endpoint_disabled'
  const ofEvent = await service.find('deliveries', 'event', event_id)
  const isCovered = ofEvent.some((other) => other.endpoint_id === endpoint_id && other.status !== 'dead')
  return isCovered ? 'covered' : undefined
}
