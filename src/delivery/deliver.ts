import type { Clock } from '../clock.ts'
import type { Attempt, Delivery } from '../model/delivery.ts'
import { recordAttempt } from '../operations/record-attempt.ts'
import { retireDelivery } from '../operations/retire-deliveries.ts'
import type { Service } from '../service.ts'
import { sign } from '../signature/sign.ts'
import { retryInMs } from '../model/retry-schedule.ts'
import { deliveryHeaders } from '../model/text/delivery-headers.ts'
import type { DeliveryFaults } from './faults/faults.ts'
import { faultFields, sendWithFaults } from './faults/fault-plan.ts'
import type { Message, Sender } from './send/send.ts'

export interface DeliverSettings {
  service: Pick<Service, 'get' | 'execute'>
  sender: Pick<Sender, 'send'>
  /** Dates the attempts. */
  clock: Pick<Clock, 'now'>
  /** Time for signatures; usually real time, since receivers compare it with theirs (contract section 9). */
  signNow: () => Date
  /** Name in the header `X-<name>-Signature` and in the user agent `<name>-Webhooks/1.0`. */
  serviceName: string
  /** Distinct failing deliveries in a row that disable an endpoint; 0 never does. */
  disableAfter: number
  /** Keeps an attempt in flight until its response is read whole, so that attempts are recorded in order. */
  inOrder?: boolean
  /** Injects faults into attempts. */
  faults?: Pick<DeliveryFaults, 'planFor' | 'hold' | 'releaseOvertaken'>
  /** Called with the error that an in-process receiver threw; attempts are numbered from 1. */
  onThrown?: (deliveryId: string, attempt: number, error: unknown) => void
  /** Called for each recorded attempt, with the updated delivery. */
  onRecorded?: (delivery: Delivery, attempt: Attempt) => void
}

/**
 * Attempts a delivery once and resolves with the recorded delivery; unchanged when it is no longer pending, `undefined`
 * when it was removed. Rejects when the outcome could not be recorded, or with the reason of an aborted signal.
 */
export type Deliver = (deliveryId: string, flight?: DeliverOptions) => Promise<Delivery | undefined>

export interface DeliverOptions {
  /** Aborts the attempt. */
  signal?: AbortSignal
  /** Called when the receiver has answered or failed; the body may still be read, and the outcome recorded. */
  onSent?: () => void
}

export function createDeliver({ service, faults, ...settings }: DeliverSettings): Deliver {
  return async (deliveryId, { signal, onSent } = {}) => {
    const delivery = await service.get('deliveries', deliveryId)
    if (delivery?.status !== 'pending') return delivery
    const { id: delivery_id, endpoint_id, event_id, event_type } = delivery
    const [event, endpoint] = await Promise.all([
      service.get('events', event_id),
      service.get('endpoints', endpoint_id),
    ])
    if (endpoint?.status !== 'enabled') return service.execute(retireDelivery, { delivery_id, endpoint_id })
    if (event === undefined) throw new Error(`Event ${event_id} of delivery ${delivery_id} not found.`)
    const plan = faults?.planFor(delivery)
    if (plan?.holds) return faults?.hold(delivery, plan)
    const started_at = settings.clock.now().toISOString()
    const signed_at = delivery.signed_at ?? Math.floor(settings.signNow().getTime() / 1000)
    const message = compose(event.body, endpoint, signed_at, settings.serviceName)
    // The response headers decide the attempt, so a slow body does not keep it in flight.
    const onHeaders = settings.inOrder === true || plan !== undefined ? undefined : onSent
    const onThrown = (error: unknown) => settings.onThrown?.(deliveryId, delivery.attempts.length + 1, error)
    const send = () => settings.sender.send(message, { signal, onHeaders, onThrown })
    const sent = await (plan === undefined ? send() : sendWithFaults(plan, send))
    const result = { started_at, signed_at, ...sent, ...(plan && faultFields(plan, started_at)) }
    onSent?.()
    const retry_in_ms = retryInMs(delivery.attempts.length + 1, event_type)
    const { disableAfter: disable_after } = settings
    const command = { delivery_id, endpoint_id, result, retry_in_ms, disable_after }
    const recorded = await service.execute(recordAttempt, command)
    // An attempt is not recorded when its delivery was retired meanwhile.
    const attempt = recorded.attempts[delivery.attempts.length]
    if (attempt !== undefined) settings.onRecorded?.(recorded, attempt)
    // Without a response, the receiver may not have seen the delivery.
    if (sent.response_status !== null) await faults?.releaseOvertaken(delivery)
    return recorded
  }
}

/** Signs the stored body. Attempts of one delivery differ in the signature header alone. */
function compose(
  body: string,
  { url, signing_secret: secret }: { url: string; signing_secret: string },
  timestamp: number,
  serviceName: string,
): Message {
  const headers = deliveryHeaders(serviceName, sign({ payload: body, secret, timestamp }))
  return { url, headers, body }
}
