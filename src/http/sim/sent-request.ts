import { deliveryHeaders, httpHeaders } from '../../model/text/service-name.ts'
import type { Attempt, Delivery } from '../../model/delivery.ts'
import { Refusal } from '../../model/refusal.ts'
import type { SentRequest } from '../../model/simulator/sent-request.ts'
import { sentContext } from '../../model/text/trace-context.ts'
import type { WebhookEndpoint } from '../../model/webhook-endpoint.ts'
import type { Service } from '../../service.ts'
import { keptUpToLimit } from '../list.ts'
import { ok, type Call, type Documented } from '../route.ts'
import { signedRecords } from '../stream/offers.ts'
import { deliveryOf, sentSignature } from './deliveries.ts'
import { count } from '../../model/text/count.ts'

interface SentRequestParts {
  service: Pick<Service, 'get'>
  /** Names the headers of deliveries. */
  serviceName: string
}

/** Route that shows the HTTP request of an attempt. */
export function sentRequestRoute(parts: SentRequestParts): Documented {
  return {
    method: 'GET',
    path: '/deliveries/:id/request',
    scope: 'simulate',
    query: { attempt: 'attempt' },
    doc: {
      id: 'getSentRequest',
      tag: 'Simulator inspector',
      internal: true,
      summary: 'Retrieve the request of a delivery',
      description:
        'Returns the HTTP request of one attempt, by default the latest, and the state of the endpoint.',
      answers: { 200: { description: 'The request as sent.', schema: 'SentRequest' } },
      errors: ['NotFound'],
    },
    handle: async (call) => ok(await sentRequest(parts, call)),
  }
}

async function sentRequest({ service, serviceName }: SentRequestParts, call: Call): Promise<SentRequest> {
  const delivery = await deliveryOf(service, call)
  const attempt = attemptIn(delivery, call.query)
  const records = await signedRecords(service, delivery)
  const { endpoint } = records
  const { body, tracestate } = keptUpToLimit(records.event, 'event')
  const url = endpoint?.url ?? delivery.endpoint_url ?? null
  const { signature, why } = signatureOf(delivery, records, attempt)
  const headers = {
    ...httpHeaders(url, body),
    ...deliveryHeaders(serviceName, signature ?? '', sentContext(attempt?.traceparent, tracestate)),
  }
  return {
    attempt: attempt?.number ?? null,
    method: 'POST',
    url,
    headers: Object.entries(headers).flatMap(([name, value]) => (value === '' ? [] : { name, value })),
    unsigned_reason: why,
    body,
    endpoint: stateOf(endpoint),
  }
}

/** @throws Refusal `not_found` for an attempt that was not made. */
function attemptIn({ id, attempts }: Delivery, query: URLSearchParams): Attempt | undefined {
  const given = query.get('attempt')
  if (given === null) return attempts.at(-1)
  const found = attempts.find(({ number }) => String(number) === given)
  if (found !== undefined) return found
  throw new Refusal(
    'not_found',
    `Delivery ${id} has ${count(attempts.length, 'attempt')}, none with the number ${given.slice(0, 20)}.`,
  )
}

function signatureOf(...signed: [...Parameters<typeof sentSignature>]): {
  signature: string | null
  why: string | null
} {
  try {
    return { signature: sentSignature(...signed).signature, why: null }
  } catch (error) {
    if (error instanceof Refusal && error.code === 'not_found') return { signature: null, why: error.message }
    throw error
  }
}

function stateOf(endpoint: WebhookEndpoint | undefined): SentRequest['endpoint'] {
  if (endpoint === undefined) return { status: 'removed', disabled_reason: null, event_types: [] }
  const { status, disabled_reason, event_types } = endpoint
  return { status, disabled_reason, event_types }
}
