import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, it, onTestFinished } from 'vitest'
import { offeredAttempt, offeredIn, openOffersOf } from '../../../src/http/stream/offers.ts'
import type { Delivery } from '../../../src/model/delivery.ts'
import { listenerUrl, type OfferedAttempt } from '../../../src/model/offer.ts'
import { put, remove } from '../../../src/model/records.ts'
import { verify } from '../../../src/signature/verify.ts'
import { errorOf, openSimulator, type TestSimulator } from '../../support/simulator.ts'

const url = 'https://abc.listen.invalid/1'
const answered = (offered: OfferedAttempt, status = 200) => ({
  offer: offered.offer,
  duration_ms: 3,
  status,
  headers: [{ name: 'X-Mine', value: '1' }],
  body: `answer ${status}`,
})
const pathOf = ({ delivery_id, attempt }: OfferedAttempt) =>
  `/_sim/deliveries/${delivery_id}/attempts/${attempt}/response`

/** Registers the listener `abc` for created checks. */
async function openListened(options: Parameters<typeof openSimulator>[0] = {}) {
  const simulator = await openSimulator(options)
  const endpoint = await simulator.client.endpoints.create({ url, event_types: ['check.created'] })
  return { simulator, endpoint }
}

/** Opens a stream of a listener. `next` resolves with its next message of a type. */
async function listen({ client }: TestSimulator, listener: string | null = 'abc') {
  const ending = new AbortController()
  onTestFinished(() => ending.abort())
  let opened = () => {}
  const isOpen = new Promise<void>((resolve) => (opened = resolve))
  const stream = client.stream({
    signal: ending.signal,
    listener: listener ?? undefined,
    onOpen: () => opened(),
  })
  const first = stream.next()
  await isOpen
  let pending: typeof first | undefined = first
  const next = async (...types: string[]) => {
    for (;;) {
      const result = await (pending ?? stream.next())
      pending = undefined
      if (result.done === true) throw new Error('The stream has ended.')
      const message = result.value
      if (types.includes(message.type)) return message
    }
  }
  return {
    next,
    offer: async () => (await next('offer')).data as OfferedAttempt,
    close: () => ending.abort(),
  }
}

describe('an attempt to a listener', () => {
  it('comes by the stream with the signed request, and is recorded with the answer', async () => {
    const { simulator, endpoint } = await openListened()
    const stream = await listen(simulator)
    await simulator.push('dinner')
    const offered = await stream.offer()
    const { headers, body } = offered
    const [event] = (await simulator.client.events.list()).data
    expect(offered).toMatchObject({ url, attempt: 1, body: event?.body })
    expect(headers.map(({ name }) => name)).toEqual(['Content-Type', 'User-Agent', 'X-Service-Signature'])
    const header = headers.at(-1)?.value ?? ''
    expect(verify({ payload: body, header, secret: endpoint.signing_secret }).ok).toBe(true)
    const call = () => simulator.call(`POST ${pathOf(offered)}`, { json: answered(offered) })
    expect((await call()).status).toBe(200)
    await simulator.idle()
    const recorded = await simulator.client.deliveries.get(offered.delivery_id)
    expect(recorded).toMatchObject({
      status: 'delivered',
      endpoint_url: url,
      attempts: [{ outcome: 'succeeded', response_status: 200, response_body: 'answer 200', duration_ms: 3 }],
    })
    expect(await simulator.client.deliveries.signature(offered.delivery_id)).toMatchObject({
      signature: header,
    })
    // The same answer again is fine, another one is not; neither changes anything.
    expect((await call()).status).toBe(200)
    const late = await simulator.call(`POST ${pathOf(offered)}`, { json: answered(offered, 500) })
    expect([late.status, errorOf(late).code]).toEqual([409, 'attempt_ended'])
    expect(await simulator.client.deliveries.get(offered.delivery_id)).toEqual(recorded)
  })

  it('is shown to no other stream, and counts as an attempt in flight', async () => {
    const { simulator } = await openListened()
    const others = [await listen(simulator, 'other'), await listen(simulator, null)]
    const stream = await listen(simulator)
    await simulator.push('dinner')
    const offered = await stream.offer()
    expect(await simulator.client.deliveries.get(offered.delivery_id)).toMatchObject({
      status: 'pending',
      attempts: [],
    })
    expect(JSON.stringify(await simulator.client.state.save())).not.toContain(offered.offer)
    const moved = simulator.client.clock.advance('1h')
    await expect
      .poll(() => simulator.client.clock.show())
      .toMatchObject({ moving: { to: expect.any(String) as string } })
    await simulator.client.request('POST', pathOf(offered), answered(offered, 500))
    const retried = await stream.offer()
    expect(retried).toMatchObject({ delivery_id: offered.delivery_id, attempt: 2 })
    await simulator.client.request('POST', pathOf(retried), answered(retried))
    expect(await moved).toMatchObject({ outcomes: { bad_status: 1, succeeded: 1 } })
    for (const other of others)
      for (const number of [1, 2])
        expect(await other.next('attempt', 'offer')).toMatchObject({
          type: 'attempt',
          data: { attempt: { number } },
        })
  })

  it('is sent again to a stream that is opened again, until it is answered', async () => {
    const { simulator } = await openListened()
    const first = await listen(simulator)
    await simulator.push('a')
    const offered = await first.offer()
    first.close()
    const second = await listen(simulator)
    expect(await second.offer()).toEqual(offered)
    await simulator.client.request('POST', pathOf(offered), answered(offered))
    await simulator.idle()
    second.close()
    const third = await listen(simulator)
    await simulator.push('b')
    expect(await third.offer()).not.toMatchObject({ delivery_id: offered.delivery_id })
  })

  it('is sent twice when a fault duplicates it; the first answer counts', async () => {
    const { simulator } = await openListened()
    await simulator.client.faults.set({ faults: [{ on: 'deliveries', duplicate: 1 }] })
    const stream = await listen(simulator)
    await simulator.push('dinner')
    const one = await stream.offer()
    await simulator.client.request('POST', pathOf(one), answered(one))
    const other = await stream.offer()
    expect(other).toEqual({ ...one, offer: other.offer })
    expect(other.offer).not.toBe(one.offer)
    await simulator.client.request('POST', pathOf(other), answered(other, 500))
    await simulator.idle()
    expect((await simulator.client.deliveries.get(one.delivery_id)).attempts).toMatchObject([
      { outcome: 'succeeded', faults: ['duplicate'] },
    ])
  })

  it('is held by a fault before it is offered', async () => {
    const { simulator } = await openListened()
    await simulator.client.clock.freeze(true)
    await simulator.client.faults.set({ faults: [{ on: 'deliveries', delay: 1, delay_ms: 30_000 }] })
    const stream = await listen(simulator)
    await simulator.push('dinner')
    await simulator.idle()
    expect((await simulator.client.deliveries.list({ status: 'held' })).data).toHaveLength(1)
    const moved = simulator.client.clock.advance('30s')
    const offered = await stream.offer()
    await simulator.client.request('POST', pathOf(offered), answered(offered))
    expect(await moved).toMatchObject({ outcomes: { succeeded: 1 } })
    expect(await simulator.client.deliveries.get(offered.delivery_id)).toMatchObject({
      status: 'delivered',
      attempts: [{ faults: ['delay'], held_ms: 30_000 }],
    })
  })

  it('is made again after a load of the state, and ended by a reset', async () => {
    const { simulator } = await openListened()
    const stream = await listen(simulator)
    await simulator.push('dinner')
    const before = await stream.offer()
    await simulator.client.state.load(await simulator.client.state.save())
    const after = await stream.offer()
    expect(after).toMatchObject({ delivery_id: before.delivery_id, attempt: 1 })
    expect(after.offer).not.toBe(before.offer)
    const late = await simulator.call(`POST ${pathOf(before)}`, { json: answered(before) })
    expect(errorOf(late).code).toBe('attempt_ended')
    await simulator.client.reset()
    const gone = await simulator.call(`POST ${pathOf(after)}`, { json: answered(after) })
    expect(errorOf(gone).code).toBe('not_found')
  })

  it('waits for the answer of the listener longer than the timeout of receivers', async () => {
    const deliveryTimes = { timeoutMs: 300, bodyTimeoutMs: 20_000, leaseMs: 100_000 }
    const { simulator } = await openListened({ deliveryTimes })
    const stream = await listen(simulator)
    await simulator.push('dinner')
    const offered = await stream.offer()
    await sleep(400)
    await simulator.client.request('POST', pathOf(offered), answered(offered))
    await simulator.idle()
    expect((await simulator.client.deliveries.get(offered.delivery_id)).status).toBe('delivered')
  })

  it('needs the scope of the simulator, for the stream and for the answer', async () => {
    const { simulator } = await openListened()
    const stream = await listen(simulator)
    await simulator.push('dinner')
    const offered = await stream.offer()
    const key = await simulator.key(['read', 'write'])
    for (const route of ['GET /_sim/stream?listener=abc', `POST ${pathOf(offered)}`])
      expect(
        errorOf(
          await simulator.call(route, {
            key,
            ...(route.startsWith('POST') && { json: answered(offered) }),
          }),
        ).code,
      ).toBe('insufficient_scope')
  })

  it.each<[string, object, number]>([
    ['without a response', { status: undefined }, 422],
    ['with an outcome that a listener cannot see', { outcome: 'address_refused' }, 422],
    ['with more of the body than is kept', { body: 'x'.repeat(4097) }, 422],
    ['with an informational status', { status: 100 }, 422],
    ['with a line break in a header', { headers: [{ name: 'A', value: '1\r\nB: 2' }] }, 422],
    ['with a header without a name', { headers: [{ name: '', value: '1' }] }, 422],
    ['with a character that is no byte', { headers: [{ name: 'A', value: '寿' }] }, 422],
    [
      'with a header longer than HTTP clients accept',
      { headers: [{ name: 'Location', value: 'a'.repeat(16_385) }] },
      422,
    ],
  ])('refuses an answer %s', async (_what, changes, status) => {
    const simulator = await openSimulator()
    const offered = { offer: 'off_1', delivery_id: 'dlv_1', attempt: 1, url, headers: [], body: '' }
    const json = { ...answered(offered), ...changes }
    expect((await simulator.call(`POST ${pathOf(offered)}`, { json })).status).toBe(status)
  })

  it('with the number 0 is 404 not_found', async () => {
    const simulator = await openSimulator()
    const json = answered({ offer: 'off_1', delivery_id: '', attempt: 1, url, headers: [], body: '' })
    const answer = await simulator.call('POST /_sim/deliveries/dlv_1/attempts/0/response', { json })
    expect([answer.status, errorOf(answer).code]).toEqual([404, 'not_found'])
  })
})

it('an endpoint of a listener can be registered where private addresses are refused', async () => {
  const simulator = await openSimulator({ denyPrivate: true })
  expect(await simulator.client.endpoints.create({ url, event_types: ['check.created'] })).toMatchObject({
    url,
  })
})

describe('the open offers of a listener', () => {
  const offer = { id: 'ofr_1', copy: 1, started_at: '2026-11-21T18:00:00.000Z', signed_at: 1 }
  const pending = (id: string, changes: Readonly<Record<string, unknown>> = {}) =>
    ({
      id,
      status: 'pending',
      attempts: [],
      endpoint_url: listenerUrl('mine', '/'),
      offer,
      ...changes,
    }) as unknown as Delivery

  it('are those of its endpoints that have no answer', async () => {
    const answered = { ...offer, result: {} }
    const records: Readonly<Record<string, readonly unknown[]>> = {
      enabled: [
        { id: 'we_1', url: listenerUrl('mine', '/') },
        { id: 'we_2', url: listenerUrl('other', '/') },
      ],
      we_1: [pending('dlv_1'), pending('dlv_2', { offer: answered }), pending('dlv_3', { offer: undefined })],
      we_2: [pending('dlv_4', { endpoint_url: listenerUrl('other', '/') })],
    }
    const find = (async (_collection: string, _index: string, key: string) => records[key]) as never
    expect((await openOffersOf({ find }, 'mine')).map(({ id }) => id)).toEqual(['dlv_1'])
  })

  it('come from writes of deliveries', () => {
    const one = pending('dlv_1')
    expect(
      [
        put('deliveries', one),
        put('checks', one as never),
        remove('deliveries', 'dlv_1'),
        put('deliveries', pending('dlv_2', { status: 'dead' })),
      ].map(offeredIn),
    ).toEqual([{ listener: 'mine', delivery: one }, undefined, undefined, undefined])
  })

  it('have a request only while event, endpoint and offer exist', async () => {
    const records: Readonly<Record<string, unknown>> = {
      events: { body: '{}' },
      endpoints: { signing_secret: `whsec_${'a'.repeat(43)}`, url: listenerUrl('mine', '/') },
    }
    const requestWithout = (missing?: string, one = pending('dlv_1')) =>
      offeredAttempt(
        { get: (async (name: string) => (name === missing ? undefined : records[name])) as never },
        'Acme',
        one,
      )
    expect(await requestWithout()).toMatchObject({
      offer: 'ofr_1',
      delivery_id: 'dlv_1',
      attempt: 1,
      body: '{}',
    })
    expect(await requestWithout('events')).toBeUndefined()
    expect(await requestWithout('endpoints')).toBeUndefined()
    expect(await requestWithout(undefined, pending('dlv_1', { offer: undefined }))).toBeUndefined()
  })
})
