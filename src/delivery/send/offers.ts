import type { AttemptResult, Delivery, OfferResult } from '../../model/delivery.ts'
import type { OfferAnswer } from '../../model/simulator/bodies.ts'
import { Refusal } from '../../model/refusal.ts'
import {
  answerOffer,
  offerAttempt,
  type AnswerOffer,
  type OfferAttempt,
} from '../../operations/offer-attempt.ts'
import type { Service } from '../../service.ts'
import { NotOwner } from '../slots.ts'
import { setDeadline, startOfHeaders } from './http-exchange.ts'
import { outcomeOf, type SendOptions } from './send.ts'

/** Sends attempts to a running `tabwire listen`, which gets them from the live stream of any instance. */
export interface Offers {
  /**
   * Offers an attempt and resolves with the answer; after the time limit, with a timeout. A recent offer of an earlier
   * instance is continued, with its times. Rejects with NotOwner when the delivery ended meanwhile, and with the reason of
   * `signal` when it aborts.
   */
  send(offer: OfferAttempt, sending: Sending): Promise<AttemptResult>
}

type Sending = Pick<SendOptions, 'signal' | 'mayBegin'>

interface OffersParts {
  service: Pick<Service, 'execute' | 'get' | 'onCommit'>
  /**
   * Milliseconds until an answer must come: the listener's time limits for headers and body, 10 s (specification section 8)
   * and 1 s. Default 11,000.
   */
  timeoutMs?: number
  /** Replaces the durations that listeners report. */
  measure?: (() => number) | undefined
}

export function createOffers({ service, timeoutMs = 11_000, measure }: OffersParts): Offers {
  const waiting = new Map<string, (delivery: Delivery | undefined) => void>()
  service.onCommit((writes) => {
    if (waiting.size === 0) return
    for (const write of writes)
      if (write.collection === 'deliveries')
        if ('put' in write) waiting.get(write.put.id)?.(write.put)
        else waiting.get(write.remove)?.(undefined)
  })
  const timedOut = (): OfferResult => ({
    duration_ms: timeoutMs,
    outcome: 'timeout',
    response_status: null,
    response_body: null,
    error: `tabwire listen did not answer within ${timeoutMs / 1000} s. Check that it runs and is connected.`,
  })

  /** Ends an offer without an answer. Resolves with the delivery, whose offer may have got one by now. */
  async function giveUp(offer: Omit<AnswerOffer, 'result'>): Promise<Delivery | undefined> {
    try {
      return await service.execute(answerOffer, { ...offer, result: timedOut() })
    } catch (error) {
      if (error instanceof Refusal && error.code === 'attempt_ended')
        return service.get('deliveries', offer.delivery_id)
      throw error
    }
  }

  /** Resolves with the delivery once its offer is answered, replaced or gone. */
  async function ended(
    command: OfferAttempt,
    signal: AbortSignal | undefined,
  ): Promise<Delivery | undefined> {
    const { delivery_id, attempt } = command
    let cancel = () => {}
    let abort = () => {}
    try {
      return await new Promise<Delivery | undefined>((resolve, reject) => {
        let offer_id: string | undefined
        let offered: string | undefined
        let latest: Delivery | undefined
        waiting.set(delivery_id, (delivery) => {
          latest = delivery
          offered = delivery?.offer?.id ?? offered
          if (offer_id !== undefined && !isOpen(delivery, offer_id)) resolve(delivery)
        })
        abort = () => reject(signal?.reason as Error)
        signal?.addEventListener('abort', abort, { once: true })
        const wait = (delivery: Delivery) => {
          if (signal?.aborted === true) return
          offer_id = delivery.offer?.id
          if (offer_id === undefined || !isOpen(delivery, offer_id)) return resolve(delivery)
          // What followed the offer may have been committed before this process continues.
          if (offered === offer_id && !isOpen(latest, offer_id)) return resolve(latest)
          const offer = { delivery_id, attempt, offer_id }
          cancel = setDeadline(() => void giveUp(offer).then(resolve, reject), timeoutMs)
        }
        service.execute(offerAttempt, command).then(wait, reject)
      })
    } finally {
      cancel()
      waiting.delete(delivery_id)
      signal?.removeEventListener('abort', abort)
    }
  }

  return {
    async send(command, { signal, mayBegin }) {
      signal?.throwIfAborted()
      if (mayBegin?.() === false) throw new NotOwner(command.attempt - 1)
      const started = measure?.() ?? 0
      const delivery = await ended(command, signal)
      const offer = delivery?.attempts.length === command.attempt - 1 ? delivery.offer : undefined
      if (offer?.result === undefined || offer.copy !== command.copy) throw new NotOwner(command.attempt - 1)
      const { id: _id, copy: _copy, result, ...times } = offer
      const sent = { ...times, ...result }
      return measure === undefined ? sent : { ...sent, duration_ms: measure() - started }
    },
  }
}

function isOpen(delivery: Delivery | undefined, offer_id: string): boolean {
  const { offer } = delivery ?? {}
  return offer?.id === offer_id && offer.result === undefined
}

/** Returns the result of an attempt by the answer of a listener, by the rules and limits for receivers over HTTP. */
export function resultOf(answer: OfferAnswer): OfferResult {
  const { duration_ms } = answer
  if ('outcome' in answer) {
    const { outcome, error } = answer
    return { duration_ms, outcome, error, response_status: null, response_body: null }
  }
  const { status, headers, body } = answer
  const location = headers.find(({ name }) => name.toLowerCase() === 'location')?.value
  return {
    duration_ms,
    ...outcomeOf({ status, location }),
    response_status: status,
    ...startOfHeaders(headers.flatMap(({ name, value }) => [name, value])),
    response_body: body,
  }
}
