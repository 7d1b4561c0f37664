import type { Delivery, Offer, OfferResult } from '../model/delivery.ts'
import { put } from '../model/records.ts'
import { Refusal } from '../model/refusal.ts'
import { unchanged, type Operation } from './operation.ts'

export interface OfferAttempt extends Omit<Offer, 'id' | 'result'> {
  delivery_id: string
  /** URL of the endpoint, which names the listener. */
  url: string
  /** Number of the attempt, from 1. */
  attempt: number
  /** Generation of the records that the attempt is made from. */
  generation: number
}

function readsOne(delivery_id: string) {
  return { delivery: { collection: 'deliveries', id: delivery_id } } as const
}

/**
 * Seconds that an unanswered offer stays for an instance that takes over. Receivers refuse signatures older than 300 s
 * (specification section 8); a listener retries an answer for less than 15 s.
 */
const KEPT_S = 60

/**
 * Offers the next attempt of a delivery to a running `tabwire listen` (contract section 9). A recent or answered offer of
 * the same attempt stays, so that an instance that takes over waits for the answer to it. An attempt that is no longer the
 * next one changes nothing.
 */
export const offerAttempt = {
  reads: ({ delivery_id }: OfferAttempt) => readsOne(delivery_id),
  decide({ delivery }, { delivery_id, url, attempt, generation, ...offer }, context) {
    if (delivery === undefined || generation !== context.generation)
      throw new Refusal('not_found', `Delivery ${delivery_id} not found, so it cannot be offered.`)
    if (delivery.status !== 'pending' || delivery.attempts.length !== attempt - 1) return unchanged(delivery)
    if (delivery.offer?.copy === offer.copy && mayStay(delivery.offer, offer)) return unchanged(delivery)
    const reply: Delivery = { ...delivery, endpoint_url: url, offer: { id: context.newId('off'), ...offer } }
    return { reply, writes: [put('deliveries', reply)], events: [] }
  },
} satisfies Operation<OfferAttempt, ReturnType<typeof readsOne>, Delivery>

function mayStay({ result, signed_at }: Offer, next: Pick<Offer, 'signed_at'>): boolean {
  return result !== undefined || Math.abs(next.signed_at - signed_at) < KEPT_S
}

export interface AnswerOffer {
  delivery_id: string
  /** Number of the attempt, from 1. */
  attempt: number
  offer_id: string
  result: OfferResult
}

export function deliveryNotFound(id: string): Refusal {
  return new Refusal('not_found', `Delivery ${id} not found.`)
}

/**
 * Stores the answer to an offered attempt; the instance that offered it records the attempt, also when the endpoint was
 * disabled meanwhile. The first answer counts. Repeating it changes nothing.
 * @throws Refusal `attempt_ended` for any other answer.
 */
export const answerOffer = {
  reads: ({ delivery_id }: AnswerOffer) => readsOne(delivery_id),
  decide({ delivery }, { delivery_id, attempt, offer_id, result }) {
    if (delivery === undefined) throw deliveryNotFound(delivery_id)
    const { attempts, offer } = delivery
    const isNext = attempt === attempts.length + 1 && offer?.id === offer_id
    const before = isNext ? offer.result : attempts[attempt - 1]
    if (before !== undefined && isSame(before, result)) return unchanged(delivery)
    if (!isNext || before !== undefined)
      throw new Refusal(
        'attempt_ended',
        `Attempt ${attempt} of delivery ${delivery_id} does not wait for this response: it has ended, was offered again, or was not offered. The response was ignored.`,
      )
    const reply: Delivery = { ...delivery, offer: { ...offer, result } }
    return { reply, writes: [put('deliveries', reply)], events: [] }
  },
} satisfies Operation<AnswerOffer, ReturnType<typeof readsOne>, Delivery>

const compared = ['outcome', 'duration_ms', 'response_status', 'response_body', 'error'] as const

function isSame(one: OfferResult, other: OfferResult): boolean {
  return compared.every((field) => one[field] === other[field])
}
