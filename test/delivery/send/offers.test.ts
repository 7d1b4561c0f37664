import { afterEach, describe, expect, it } from 'vitest'
import { NotOwner } from '../../../src/delivery/slots.ts'
import { resultOf } from '../../../src/delivery/send/offers.ts'
import type { Delivery, Offer, OfferResult } from '../../../src/model/delivery.ts'
import { noRecords } from '../../../src/model/records.ts'
import { answerOffer } from '../../../src/operations/offer-attempt.ts'
import { MINUTE, openSetup, type Setup } from '../setup.ts'

const ok: OfferResult = resultOf({
  offer: '',
  duration_ms: 5,
  status: 200,
  headers: [{ name: 'X-Mine', value: '1' }],
  body: 'thanks',
})

const TIMED_OUT = 'tabwire listen did not answer within 0.02 s. Check that it runs and is connected.'

describe('an attempt to a listener', () => {
  let setup: Setup
  afterEach(async () => {
    await setup.close()
    expect(setup.errors).toEqual([])
  })

  async function open(options: Parameters<typeof openSetup>[0] = {}) {
    setup = await openSetup({
      ...options,
      policy: { resolve: async () => Promise.reject(new Error('A name was looked up.')) },
    })
    return setup.register('https://abc.listen.invalid/1')
  }

  /** Resolves with the next offer that is committed. */
  const nextOffer = () =>
    new Promise<Offer>((resolve) => {
      const forget = setup.service.onCommit((writes) => {
        for (const write of writes) {
          const offer = write.collection === 'deliveries' && 'put' in write ? write.put.offer : undefined
          if (offer === undefined || offer.result !== undefined) continue
          forget()
          resolve(offer)
        }
      })
    })

  const answer = async (offer: Offer, result: OfferResult, attempt = 1): Promise<Delivery> => {
    const { id: delivery_id } = await setup.delivery()
    return setup.service.execute(answerOffer, { delivery_id, attempt, offer_id: offer.id, result })
  }

  it('is recorded with the answer, and retried by the schedule after a failure', async () => {
    await open()
    let offered = nextOffer()
    await setup.announce()
    await answer(await offered, { ...ok, outcome: 'bad_status', response_status: 500 })
    await setup.pump.idle()
    expect(await setup.delivery()).toMatchObject({
      status: 'pending',
      next_attempt_at: '2026-11-21T18:01:00.000Z',
      attempts: [{ number: 1, outcome: 'bad_status', duration_ms: 5 }],
    })
    offered = nextOffer()
    setup.clock.advance(MINUTE)
    await answer(await offered, ok, 2)
    await setup.pump.idle()
    const delivered = await setup.delivery()
    expect(delivered).toMatchObject({
      status: 'delivered',
      attempts: [{}, { outcome: 'succeeded', response_body: 'thanks', response_headers: [{ value: '1' }] }],
    })
    expect(delivered.offer).toBeUndefined()
  })

  it('times out without an answer, and a late answer is refused', async () => {
    await open({ timeoutMs: 20 })
    const offered = nextOffer()
    await setup.announce()
    const offer = await offered
    await setup.pump.idle()
    expect(await setup.delivery()).toMatchObject({
      status: 'pending',
      attempts: [
        {
          outcome: 'timeout',
          response_status: null,
          error: TIMED_OUT,
        },
      ],
    })
    await expect(answer(offer, ok)).rejects.toMatchObject({ code: 'attempt_ended' })
    expect((await setup.delivery()).attempts).toHaveLength(1)
  })

  it.each([
    'https://abc.listen.invalid:8443/1',
    'https://abc.listen.invalid./1',
    'https://a.b.listen.invalid/1',
    'https://a_b.listen.invalid/1',
  ])('fails with dns_error for %s, which is not the URL of a listener', async (url) => {
    await open()
    await setup.register(url, ['check.created'])
    await setup.announce('hello', 'check.created')
    await setup.pump.idle()
    expect((await setup.delivery()).attempts).toMatchObject([{ outcome: 'dns_error' }])
  })

  it('keeps waiting when an answer is for another attempt or another offer', async () => {
    await open()
    const offered = nextOffer()
    await setup.announce()
    const offer = await offered
    await expect(answer(offer, ok, 2)).rejects.toMatchObject({ code: 'attempt_ended' })
    await expect(answer({ ...offer, id: 'off_other' }, ok)).rejects.toMatchObject({ code: 'attempt_ended' })
    await answer(offer, ok)
    await setup.pump.idle()
    expect((await setup.delivery()).status).toBe('delivered')
  })

  it('ends with its delivery when the endpoint is removed', async () => {
    const endpoint = await open()
    const offered = nextOffer()
    await setup.announce()
    await offered
    await setup.remove(endpoint.id)
    await setup.pump.idle()
    const dead = await setup.delivery()
    expect(dead).toMatchObject({ status: 'dead', attempts: [] })
    expect(dead.offer).toBeUndefined()
  })

  it('is answered and recorded when another attempt has disabled its endpoint meanwhile', async () => {
    await open({ disableAfter: 1 })
    const offers = new Map<string, Offer>()
    const both = new Promise<void>((resolve) => {
      setup.service.onCommit((writes) => {
        for (const write of writes)
          if (write.collection === 'deliveries' && 'put' in write && write.put.offer?.result === undefined)
            if (write.put.offer !== undefined) offers.set(write.put.id, write.put.offer)
        if (offers.size === 2) resolve()
      })
    })
    await setup.announce('fails')
    await setup.announce('succeeds')
    await both
    const [fails, succeeds] = (await setup.deliveries()).map(({ id }) => id)
    const answerTo = (delivery_id = '', result: OfferResult) => {
      const offer_id = offers.get(delivery_id)?.id ?? ''
      return setup.service.execute(answerOffer, { delivery_id, attempt: 1, offer_id, result })
    }
    await answerTo(fails, { ...ok, outcome: 'bad_status', response_status: 500 })
    await expect
      .poll(async () => (await setup.deliveries()).map(({ status }) => status))
      .toEqual(['dead', 'dead'])
    await answerTo(succeeds, ok)
    await setup.pump.idle()
    expect(await setup.deliveries()).toMatchObject([
      { id: fails, status: 'dead', attempts: [{ outcome: 'bad_status' }] },
      { id: succeeds, status: 'delivered', attempts: [{ outcome: 'succeeded' }] },
    ])
  })

  it('is continued after a stop: the first offer and its answer count', async () => {
    await open()
    const offered = nextOffer()
    await setup.announce()
    const offer = await offered
    await setup.pump.stop({ graceMs: 0 })
    await answer(offer, ok)
    const next = setup.startPump()
    await next.idle()
    expect((await setup.delivery()).attempts).toMatchObject([{ outcome: 'succeeded', duration_ms: 5 }])
    await next.stop({ graceMs: 0 })
  })

  it('is aborted when all records are replaced', async () => {
    await open()
    const offered = nextOffer()
    await setup.announce()
    const offer = await offered
    const { id } = await setup.delivery()
    await setup.pump.interrupt(async () => setup.service.replace(() => noRecords))
    const command = { delivery_id: id, attempt: 1, offer_id: offer.id, result: ok }
    await expect(setup.service.execute(answerOffer, command)).rejects.toMatchObject({ code: 'not_found' })
    expect(await setup.deliveries()).toEqual([])
  })

  it('is not offered by an instance that may not begin it', async () => {
    await open()
    await setup.pump.stop({ graceMs: 0 })
    await setup.announce()
    const refused = setup.deliver(await setup.delivery(), { mayBegin: () => false })
    await expect(refused).rejects.toBeInstanceOf(NotOwner)
    expect((await setup.delivery()).offer).toBeUndefined()
  })
})

describe('the answer of a listener', () => {
  it('has the outcome and the limits of a response over HTTP', () => {
    const headers = Array.from({ length: 101 }, () => ({ name: 'A', value: 'b' }))
    expect(resultOf({ offer: '', duration_ms: 1, status: 204, headers, body: '' })).toMatchObject({
      outcome: 'succeeded',
      error: null,
      response_headers: headers.slice(1),
      response_headers_cut: true,
    })
    const moved = [{ name: 'Location', value: 'https://b.test/' }]
    expect(resultOf({ offer: '', duration_ms: 1, status: 302, headers: moved, body: '' })).toMatchObject({
      outcome: 'bad_status',
      error:
        'The receiver redirected (302) to https://b.test/. Redirects are not followed. Use that URL instead.',
    })
  })
})
