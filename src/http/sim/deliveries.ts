import {
  attemptOutcomes,
  type Delivery,
  deliveryWord,
  deliveryWords,
  type SentSignature,
  viewDelivery,
} from '../../model/delivery.ts'
import { Refusal } from '../../model/refusal.ts'
import { createActivityCounter } from '../../model/simulator/activity.ts'
import { resendBody } from '../../model/simulator/bodies.ts'
import type {
  ActivityQuery,
  DeliveriesQuery,
  DeliveryQuery,
  TimeFilter,
} from '../../model/simulator/list-queries.ts'
import type { ResendPlan, SkipReason } from '../../model/simulator/sent-request.ts'
import { createdAt } from '../../model/text/time.ts'
import { resendDelivery } from '../../operations/resend-delivery.ts'
import type { Service } from '../../service.ts'
import { sign } from '../../signature/sign.ts'
import {
  deliveriesInBatches,
  keptUpToLimit,
  listOf,
  simPaging,
  choiceOf,
  definedFields,
  isWithin,
  pageQueryOf,
  searchIn,
  timeRangeOf,
  typeIn,
} from '../list.ts'
import { listDoc } from '../openapi/operation.ts'
import { signedRecords } from '../stream/offers.ts'
import { type Call, created, type Documented, ok, type QueryOf, type Reply, withBody } from '../route.ts'

const deliveryFilter = {
  q: 'q',
  status: 'status.delivery',
  outcome: 'outcome.delivery',
  endpoint_id: 'endpoint_id',
  event_id: 'event_id',
  type: 'type',
  external_check_id: 'external_check_id',
} as const satisfies QueryOf<DeliveryQuery>

const deliveryTimes = { from: 'from.deliveries', to: 'to.deliveries' } as const

/** Routes that list, show and resend deliveries (contract sections 9 and 10). */
export function deliveryRoutes(service: Service): Documented[] {
  return [
    {
      method: 'GET',
      path: '/deliveries',
      scope: 'simulate',
      query: { ...deliveryFilter, ...deliveryTimes, ...simPaging } satisfies QueryOf<DeliveriesQuery>,
      doc: listDoc({
        id: 'listDeliveries',
        tag: 'Simulator deliveries',
        summary: 'List deliveries',
        of: 'Delivery',
      }),
      handle: (call) =>
        listOf(service, 'deliveries', call, {
          where: filterOf(call),
          view: viewDelivery,
          searched,
          only: matchesQuery(call),
        }),
    },
    {
      method: 'GET',
      path: '/deliveries/activity',
      scope: 'simulate',
      query: { ...deliveryFilter, from: 'from.attempts', to: 'to.attempts' } satisfies QueryOf<ActivityQuery>,
      doc: {
        id: 'getDeliveryActivity',
        tag: 'Simulator inspector',
        internal: true,
        summary: 'Count attempts over time',
        description: 'Counts the attempts of all stored deliveries that match the filters.',
        answers: { 200: { description: 'Outcomes and durations of attempts.', schema: 'Activity' } },
      },
      handle: (call) => showActivity(service, call),
    },
    {
      method: 'GET',
      path: '/deliveries/upcoming',
      scope: 'simulate',
      query: { limit: 'limit' },
      doc: {
        id: 'listUpcomingDeliveries',
        tag: 'Simulator inspector',
        internal: true,
        summary: 'List the next attempts',
        description: 'Lists pending deliveries by the time of their next attempt, earliest first.',
        answers: { 200: { description: 'The deliveries, in one page.', schema: 'DeliveryList' } },
      },
      handle: (call) => showUpcoming(service, call),
    },
    {
      method: 'GET',
      path: '/deliveries/:id',
      scope: 'simulate',
      doc: {
        id: 'getDelivery',
        tag: 'Simulator deliveries',
        summary: 'Retrieve a delivery',
        description: 'Returns a delivery. `--keep-events` limits how many finished deliveries are kept.',
        answers: { 200: { description: 'The delivery with its attempts.', schema: 'Delivery' } },
        errors: ['NotFound'],
      },
      handle: async (call) => ok(viewDelivery(await deliveryOf(service, call))),
    },
    {
      method: 'GET',
      path: '/deliveries/:id/signature',
      scope: 'simulate',
      doc: {
        id: 'getSentSignature',
        tag: 'Simulator deliveries',
        summary: 'Retrieve the signature header of a delivery',
        description: 'Returns the signature header of the latest attempt.',
        answers: { 200: { description: 'The header as sent.', schema: 'SentSignature' } },
        errors: ['NotFound'],
      },
      async handle(call) {
        const delivery = await deliveryOf(service, call)
        return ok(sentSignature(delivery, await signedRecords(service, delivery)))
      },
    },
    {
      method: 'POST',
      path: '/deliveries/:id/resend',
      scope: 'simulate',
      ...withBody(resendBody, async ({ fresh }, call) => {
        const delivery = await deliveryOf(service, call)
        return created(viewDelivery(await service.execute(resendDelivery, { delivery, fresh })))
      }),
      doc: {
        id: 'resendDelivery',
        tag: 'Simulator deliveries',
        summary: 'Resend a delivery',
        description:
          'Creates a delivery of the same event to the same endpoint, with the same bytes. It is signed with the current time; with `fresh: false` it repeats the signature header of the first attempt. The response does not wait for the attempt.',
        answers: { 201: { description: 'The new delivery.', schema: 'Delivery' } },
        errors: ['NotFound', 'EndpointDisabled'],
      },
    },
  ]
}

/** Fields that `?q=` searches: of the delivery, and outcome, status and trace of its latest attempt, which lists show. */
const searched = [
  'id',
  'event_id',
  'event_type',
  'endpoint_id',
  'external_check_id',
  'attempts.last.outcome',
  'attempts.last.response_status',
  'attempts.last.traceparent',
]

async function showActivity(service: Pick<Service, 'list'>, call: Call): Promise<Reply> {
  const counter = createActivityCounter(timeRangeOf(call.query))
  for await (const batch of deliveriesInBatches(service, selectionOf(call), call.gone())) counter.add(batch)
  return ok(counter.result())
}

/** A time after all due times, so that each pending delivery is due. */
const AFTER_ALL = new Date('9999-12-31T23:59:59.999Z')

async function showUpcoming(service: Pick<Service, 'due'>, { query }: Call): Promise<Reply> {
  const { limit } = pageQueryOf(query, 'deliveries')
  const { deliveries } = await service.due({ now: AFTER_ALL, perEndpoint: limit })
  return ok({ data: deliveries.slice(0, limit).map(viewDelivery), next_cursor: null })
}

/** Returns all filters of a query for deliveries. */
function selectionOf(call: Call) {
  return { where: filterOf(call), search: searchIn(searched, call.query), only: matchesQuery(call) }
}

/** Returns the filter by status word, latest outcome and time, which are no stored fields. */
function matchesQuery({ query }: Call): (delivery: Delivery) => boolean {
  const status = choiceOf(query, 'status', deliveryWords)
  const outcome = choiceOf(query, 'outcome', attemptOutcomes)
  const range = timeRangeOf(query)
  const isTimed = range.from !== undefined || range.to !== undefined
  return (delivery) =>
    (status === undefined || status === delivery.status || status === deliveryWord(delivery)) &&
    (outcome === undefined || delivery.attempts.at(-1)?.outcome === outcome) &&
    (!isTimed ||
      isWithin(range, createdAt(delivery.id)) ||
      delivery.attempts.some(({ started_at }) => isWithin(range, started_at)))
}

function filterOf(call: Call): Record<string, string> {
  return definedFields({
    endpoint_id: call.query.get('endpoint_id'),
    event_id: call.query.get('event_id'),
    event_type: typeIn(call.query),
    external_check_id: call.query.get('external_check_id'),
  })
}

export async function deliveryOf(service: Pick<Service, 'get'>, { params }: Call): Promise<Delivery> {
  return keptUpToLimit(await service.get('deliveries', params.id ?? ''), 'delivery')
}

/**
 * Returns the signature header of one attempt of a delivery, by default the latest, computed from stored records. It
 * contains no secret.
 * @throws Refusal `not_found` before the first attempt, and when event or endpoint no longer exist.
 */
export function sentSignature(
  { id, attempts }: Delivery,
  { event, endpoint }: Awaited<ReturnType<typeof signedRecords>>,
  attempt = attempts.at(-1),
): SentSignature {
  if (attempt === undefined)
    throw noSignature(`Delivery ${id} has not been attempted yet, so it has no signature header.`)
  if (attempt.signed_at === undefined)
    throw noSignature(
      `Delivery ${id} was attempted by an older version of Tabwire, which did not store its signature header.`,
    )
  if (event === undefined || endpoint === undefined)
    throw noSignature(`The event or the endpoint of delivery ${id} no longer exists.`)
  const { body: payload } = event
  const signed = { payload, secret: endpoint.signing_secret, timestamp: attempt.signed_at }
  return { attempt: attempt.number, signature: sign(signed) }
}

function noSignature(message: string): Refusal {
  return new Refusal('not_found', message)
}

/** Route that plans the resend of all dead deliveries that match filters. */
export function resendPlanRoute(service: Pick<Service, 'get' | 'find' | 'list'>): Documented {
  return {
    method: 'GET',
    path: '/deliveries/resend-plan',
    scope: 'simulate',
    query: { ...deliveryFilter, ...deliveryTimes } satisfies QueryOf<DeliveryQuery & TimeFilter>,
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
  }
}

async function planResend(service: Pick<Service, 'get' | 'find' | 'list'>, call: Call): Promise<ResendPlan> {
  const skipped = { endpoint_disabled: 0, endpoint_removed: 0, covered: 0, ping: 0 }
  const planned = new Map<string, string>()
  const { where, ...selection } = selectionOf(call)
  const dead = { ...selection, where: { ...where, status: 'dead' } }
  for await (const batch of deliveriesInBatches(service, dead, call.gone())) {
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
): Promise<SkipReason | undefined> {
  if (event_type === 'ping') return 'ping'
  const endpoint = await service.get('endpoints', endpoint_id)
  if (endpoint === undefined) return 'endpoint_removed'
  if (endpoint.status === 'disabled') return 'endpoint_disabled'
  const ofEvent = await service.find('deliveries', 'event', event_id)
  const isCovered = ofEvent.some((other) => other.endpoint_id === endpoint_id && other.status !== 'dead')
  return isCovered ? 'covered' : undefined
}
