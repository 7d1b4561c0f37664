import { describe, expect, it } from 'vitest'
import type { Delivery, OfferResult } from '../../src/model/delivery.ts'
import {
  answerOffer,
  offerAttempt,
  type AnswerOffer,
  type OfferAttempt,
} from '../../src/operations/offer-attempt.ts'

const url = 'https://abc.listen.invalid/1'
const delivery: Delivery = {
  id: 'dlv_1',
  event_id: 'evt_1',
  event_type: 'check.updated',
  endpoint_id: 'we_1',
  external_check_id: 'check-1',
  status: 'pending',
  attempts: [],
  next_attempt_at: '2026-11-21T18:00:00.000Z',
  dead_reason: null,
}
const times = { started_at: '2026-11-21T18:00:00.100Z', signed_at: 1_795_284_000 }
const offer = { id: 'off_1', copy: 1, ...times }
const offered: Delivery = { ...delivery, endpoint_url: url, offer }
const result: OfferResult = {
  duration_ms: 12,
  outcome: 'succeeded',
  response_status: 200,
  response_body: 'ok',
  error: null,
}
const done: Delivery = {
  ...delivery,
  status: 'delivered',
  next_attempt_at: null,
  attempts: [{ number: 1, ...times, ...result }],
}
const context = {
  now: new Date('2026-11-21T18:00:00.000Z'),
  newId: (prefix: string) => `${prefix}_1`,
  newSecret: String,
  generation: 0,
}

describe('offering an attempt', () => {
  const command: OfferAttempt = { delivery_id: 'dlv_1', url, attempt: 1, generation: 0, copy: 1, ...times }
  const decide = (stored: Delivery | undefined, changes: Partial<OfferAttempt> = {}) =>
    offerAttempt.decide({ delivery: stored }, { ...command, ...changes }, context)

  it('stores the times with a new id, and the URL that names the listener', () => {
    expect(decide(delivery)).toMatchObject({ reply: offered, writes: [{ put: offered }] })
  })

  it('keeps an offer of the same attempt, with its times', () => {
    const again = { ...command, started_at: '2026-11-21T18:00:30.000Z' }
    expect(decide(offered, again)).toMatchObject({ reply: offered, writes: [] })
    const answered = { ...offered, offer: { ...offer, result } }
    expect(decide(answered, again)).toMatchObject({ reply: answered, writes: [] })
  })

  it.each([60, 86_400, -60])(
    'replaces an unanswered offer that was signed %i seconds before, since receivers refuse old signatures',
    (seconds) => {
      const again = { ...command, signed_at: command.signed_at + seconds }
      expect(decide(offered, again).reply.offer).toEqual({ ...offer, signed_at: again.signed_at })
      const answered = { ...offered, offer: { ...offer, result } }
      expect(decide(answered, again)).toMatchObject({ reply: answered, writes: [] })
    },
  )

  it('replaces the offer by that of an injected duplicate', () => {
    expect(decide({ ...offered, offer: { ...offer, result } }, { copy: 2 }).reply.offer).toEqual({
      ...offer,
      copy: 2,
    })
  })

  it.each([
    ['was attempted', delivery, { attempt: 2 }],
    ['is no longer pending', done, {}],
  ])('changes nothing of a delivery that %s', (_which, stored, changes) => {
    expect(decide(stored, changes)).toMatchObject({ reply: stored, writes: [] })
  })

  it('is refused when the delivery is gone or the records were replaced', () => {
    expect(() => decide(undefined)).toThrow('Delivery dlv_1 not found')
    expect(() => decide(delivery, { generation: 1 })).toThrow('Delivery dlv_1 not found')
  })
})

describe('answering an offer', () => {
  const command: AnswerOffer = { delivery_id: 'dlv_1', attempt: 1, offer_id: 'off_1', result }
  const decide = (stored: Delivery | undefined, changes: Partial<AnswerOffer> = {}) =>
    answerOffer.decide({ delivery: stored }, { ...command, ...changes })
  const answered: Delivery = { ...offered, offer: { ...offer, result } }
  const other = { result: { ...result, response_status: 500 } }

  it('stores the answer', () => {
    expect(decide(offered)).toMatchObject({ reply: answered, writes: [{ put: answered }] })
  })

  it.each([
    ['answered', answered],
    ['recorded', done],
  ])('changes nothing when the same answer is already %s', (_state, stored) => {
    expect(decide(stored)).toMatchObject({ reply: stored, writes: [] })
  })

  it.each<[string, Delivery, Partial<AnswerOffer>]>([
    ['has another answer', answered, other],
    ['was recorded with another result', done, other],
    ['is not the next one', offered, { attempt: 2 }],
    ['was offered again', offered, { offer_id: 'off_0' }],
    ['was not offered', delivery, {}],
  ])('is refused when the attempt %s', (_why, stored, changes) => {
    expect(() => decide(stored, changes)).toThrow(expect.objectContaining({ code: 'attempt_ended' }))
  })

  it('is refused for an unknown delivery', () => {
    expect(() => decide(undefined)).toThrow(expect.objectContaining({ code: 'not_found' }))
  })
})
