import type { Delivery } from '../../model/delivery.ts'
import { listenerOf, openOffer, type OfferedAttempt } from '../../model/offer.ts'
import type { Write } from '../../model/records.ts'
import { deliveryHeaders } from '../../model/text/service-name.ts'
import { sentContext } from '../../model/text/trace-context.ts'
import type { Service } from '../../service.ts'
import { sign } from '../../signature/sign.ts'

/** Returns the listener that a write offers an attempt to. */
export function offeredIn(write: Write): { listener: string; delivery: Delivery } | undefined {
  if (write.collection !== 'deliveries' || !('put' in write)) return undefined
  const open = openOffer(write.put)
  return open && { listener: open.listener, delivery: write.put }
}

/** Returns the deliveries with an offer that this listener has not answered. */
export async function openOffersOf(service: Pick<Service, 'find'>, listener: string): Promise<Delivery[]> {
  const endpoints = await service.find('endpoints', 'status', 'enabled')
  const own = endpoints.filter(({ url }) => listenerOf(url) === listener)
  const pending = await Promise.all(own.map(({ id }) => service.find('deliveries', 'pending_of', id)))
  return pending.flat().filter((delivery) => openOffer(delivery) !== undefined)
}

/** Returns the event and the endpoint of a delivery, which its signature is computed from. */
export async function signedRecords(
  service: Pick<Service, 'get'>,
  { event_id, endpoint_id }: Pick<Delivery, 'event_id' | 'endpoint_id'>,
) {
  const [event, endpoint] = await Promise.all([
    service.get('events', event_id),
    service.get('endpoints', endpoint_id),
  ])
  return { event, endpoint }
}

/** Returns the request of an offered attempt; `undefined` when its event or endpoint no longer exists. */
export async function offeredAttempt(
  service: Pick<Service, 'get'>,
  serviceName: string,
  delivery: Delivery,
): Promise<OfferedAttempt | undefined> {
  const { id, attempts, offer } = delivery
  const { event, endpoint } = await signedRecords(service, delivery)
  if (event === undefined || endpoint === undefined || offer === undefined) return undefined
  const { body, tracestate } = event
  const { signing_secret: secret, url } = endpoint
  const { traceparent, signed_at: timestamp } = offer
  const signature = sign({ payload: body, secret, timestamp })
  const headers = deliveryHeaders(serviceName, signature, sentContext(traceparent, tracestate))
  return {
    offer: offer.id,
    delivery_id: id,
    attempt: attempts.length + 1,
    url,
    headers: Object.entries(headers).map(([name, value]) => ({ name, value })),
    body,
  }
}
