import { setNewest } from '../model/bounded-map.ts'
import type { Clock } from '../clock.ts'
import type { AttemptResult, Delivery } from '../model/delivery.ts'
import type { StoredEvent } from '../model/event.ts'
import { childOf, sentContext, type TraceContext } from '../model/text/trace-context.ts'
import { recordAttempt, type RecordAttempt } from '../operations/record-attempt.ts'
import { Refusal } from '../model/refusal.ts'
import { retireDelivery } from '../operations/pending-deliveries.ts'
import type { Service } from '../service.ts'
import { sign } from '../signature/sign.ts'
import { listenerOf } from '../model/offer.ts'
import { retryInMs } from '../model/retry-schedule.ts'
import { deliveryHeaders } from '../model/text/service-name.ts'
import type { DeliveryFaults } from './faults/faults.ts'
import { faultFields, sendWithFaults } from './faults/fault-plan.ts'
import type { Offers } from './send/offers.ts'
import type { Sender, SendResult } from './send/send.ts'
import { NotOwner } from './slots.ts'

interface DeliverSettings {
  service: Pick<Service, 'get' | 'execute' | 'generation'>
  sender: Pick<Sender, 'send'>
  /** Sends attempts to endpoints of a running `tabwire listen`. */
  offers: Offers
  /** Dates the attempts. */
  clock: Pick<Clock, 'now'>
  /** Time for signatures; usually real time, since receivers compare it with theirs (contract section 9). */
  signClock: Pick<Clock, 'now'>
  /** Name in the header `X-<name>-Signature` and in the user agent `<name>-Webhooks/1.0`. */
  serviceName: string
  /** Distinct failing deliveries in a row that disable an endpoint; 0 never does. */
  disableAfter: number
  /** Returns the span id of an attempt. Present with `--trace`; then attempts are sent with a trace context. */
  newSpanId?: (() => string) | undefined
  /** Keeps an attempt in flight until its response is read whole, so that attempts are recorded in order. */
  inOrder?: boolean
  /** Stores no `Date` header of a response, so that equal runs have equal records. */
  withoutDate?: boolean
  /** Injects faults into attempts. */
  faults?: Pick<DeliveryFaults, 'planFor' | 'hold' | 'releaseOvertaken'>
  /** Called with the error that an in-process receiver threw; attempts are numbered from 1. */
  onThrown?: (deliveryId: string, attempt: number, error: unknown) => void
}

/**
 * Attempts a delivery once and resolves with the recorded delivery; unchanged when it is no longer pending, `undefined`
 * when it was removed. Rejects when the outcome could not be recorded, or with the reason of an aborted signal.
 */
export type Deliver = (
  seen: Pick<Delivery, 'id' | 'event_id' | 'endpoint_id'>,
  options?: DeliverOptions,
) => Promise<Delivery | undefined>

interface DeliverOptions {
  /** Aborts the attempt. */
  signal?: AbortSignal
  /** Called when the receiver has answered or failed; the body may still be read, and the outcome recorded. */
  onSent?: () => void
  /** False when another instance may attempt the delivery. Then the result rejects with NotOwner, and nothing is sent. */
  mayBegin?: (() => boolean) | undefined
  /** Leaves a delivery unchanged that is no longer due: another instance attempted it, or the clock was set back. */
  onlyDue?: boolean
}

/** Most outcomes that wait to be recorded. Above it, the oldest attempt is made again. */
const MOST_UNRECORDED = 1_000

export function createDeliver({ service, faults, ...settings }: DeliverSettings): Deliver {
  /** Outcomes that the store did not take, by delivery. They are recorded later, so that the receiver gets no duplicate. */
  const unrecorded = new Map<string, RecordAttempt>()

  async function record(command: RecordAttempt, delivery: Delivery): Promise<Delivery> {
    const { delivery_id: id, result } = command
    unrecorded.delete(id)
    const recorded = await service.execute(recordAttempt, command).catch((error: unknown) => {
      if (error instanceof Refusal && error.code === 'storage_unavailable')
        setNewest(unrecorded, id, command, MOST_UNRECORDED)
      throw error
    })
    // Without a response, the receiver may not have seen the delivery.
    if (result.response_status !== null) await faults?.releaseOvertaken(delivery)
    return recorded
  }

  return async (
    { id: delivery_id, event_id, endpoint_id },
    { signal, onSent, mayBegin, onlyDue = false } = {},
  ) => {
    const generation = service.generation()
    // Concurrently: a shared store answers these reads in one round trip.
    const [delivery, event, endpoint] = await Promise.all([
      service.get('deliveries', delivery_id),
      service.get('events', event_id),
      service.get('endpoints', endpoint_id),
    ])
    const known = unrecorded.get(delivery_id)
    if (delivery?.status !== 'pending') {
      unrecorded.delete(delivery_id)
      return delivery
    }
    if (known?.generation === generation && known.attempt === delivery.attempts.length + 1)
      return record(known, delivery)
    const { event_type, next_attempt_at } = delivery
    if (onlyDue && (next_attempt_at === null || next_attempt_at > settings.clock.now().toISOString()))
      return delivery
    if (endpoint?.status !== 'enabled' || event === undefined)
      return service.execute(retireDelivery, { delivery_id, event_id, endpoint_id })
    if (mayBegin?.() === false) throw new NotOwner(delivery.attempts.length)
    const plan = await faults?.planFor(delivery)
    if (plan?.holds) return faults?.hold(delivery, plan, generation)
    const started_at = settings.clock.now().toISOString()
    const signed_at = delivery.signed_at ?? Math.floor(settings.signClock.now().getTime() / 1000)
    const trace = settings.newSpanId && traceOf(event, settings.newSpanId)
    const { url, signing_secret: secret } = endpoint
    const { body } = event
    const signature = sign({ payload: body, secret, timestamp: signed_at })
    const message = { url, headers: deliveryHeaders(settings.serviceName, signature, trace), body }
    // The response headers decide the attempt, so a slow body does not keep it in flight.
    const onHeaders = settings.inOrder === true || plan !== undefined ? undefined : onSent
    const attempt = delivery.attempts.length + 1
    const onThrown = (error: unknown) => settings.onThrown?.(delivery_id, attempt, error)
    const traceparent = trace && { traceparent: trace.traceparent }
    let copy = 0
    const offer = () => {
      const command = { delivery_id, url, attempt, generation, copy: ++copy, started_at, signed_at }
      return settings.offers.send({ ...command, ...traceparent }, { signal, mayBegin })
    }
    const post = () => settings.sender.send(message, { signal, onHeaders, onThrown, mayBegin })
    const send: () => Promise<SendResult> = listenerOf(url) === undefined ? post : offer
    const sent = await (plan === undefined ? send() : sendWithFaults(plan, send))
    const result: AttemptResult = {
      started_at,
      signed_at,
      ...traceparent,
      // An offer of an earlier instance keeps its times and its trace.
      ...(settings.withoutDate === true ? withoutDate(sent) : sent),
      ...(plan && faultFields(plan, started_at)),
    }
    onSent?.()
    const retry_in_ms = retryInMs(attempt, event_type)
    const { disableAfter: disable_after } = settings
    const command = { delivery_id, endpoint_id, attempt, generation, result, retry_in_ms, disable_after }
    return record(command, delivery)
  }
}

/** Returns the trace context of an attempt: that of its event, with a span id of its own. */
function traceOf(
  { traceparent, tracestate }: StoredEvent,
  newSpanId: () => string,
): TraceContext | undefined {
  return traceparent === undefined
    ? undefined
    : sentContext(childOf({ traceparent }, newSpanId()), tracestate)
}

/** Returns the result of a send without the receiver's `Date` header. */
function withoutDate(sent: SendResult): SendResult {
  if (sent.response_headers === undefined) return sent
  const kept = sent.response_headers.filter(({ name }) => name.toLowerCase() !== 'date')
  return { ...sent, response_headers: kept }
}
