import { viewDelivery, type Delivery } from '../../model/delivery.ts'
import { Refusal } from '../../model/refusal.ts'
import { offerAnswerBody, type OfferAnswer } from '../../model/simulator/bodies.ts'
import { ok, withBody, type Documented } from '../route.ts'

export interface OfferParts {
  /** Stores the answer to an offered attempt. @throws Refusal `not_found` or `attempt_ended`. */
  answerOffered(answered: { delivery_id: string; attempt: number; answer: OfferAnswer }): Promise<Delivery>
}

/** Route by which a running `tabwire listen` answers attempts that the stream offered to it (contract section 9). */
export function offerRoute({ answerOffered }: OfferParts): Documented {
  return {
    method: 'POST',
    path: '/deliveries/:id/attempts/:number/response',
    scope: 'simulate',
    // An attempt in flight is waited for.
    whileStopping: true,
    ...withBody(offerAnswerBody, async (answer, { params: { id = '', number = '' } }) => {
      if (!/^[1-9]\d{0,3}$/.test(number))
        throw new Refusal('not_found', `Delivery ${id} has no attempt ${number.slice(0, 20)}.`)
      return ok(viewDelivery(await answerOffered({ delivery_id: id, attempt: Number(number), answer })))
    }),
    doc: {
      id: 'answerOfferedAttempt',
      tag: 'Simulator inspector',
      internal: true,
      summary: 'Answer an offered attempt',
      description:
        'For `tabwire listen`: stores the response of the receiver, or why there was none. The first answer counts. Repeating it changes nothing; any other one is refused.',
      answers: { 200: { description: 'The delivery.', schema: 'Delivery' } },
      errors: ['NotFound', 'AttemptEnded'],
    },
  }
}
