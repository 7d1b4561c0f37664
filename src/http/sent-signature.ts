import type { Delivery } from '../model/delivery.ts'
import { Refusal } from '../model/refusal.ts'
import type { SentSignature } from '../model/sent-signature.ts'
import type { Service } from '../service.ts'
import { sign } from '../signature/sign.ts'

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
