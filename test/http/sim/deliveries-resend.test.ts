import { describe, expect, it } from 'vitest'
import type { Delivery } from '../../../src/model/delivery.ts'
import { verify } from '../../../src/signature/index.ts'
import { createManualClock } from '../../support/manual-clock.ts'
import {
  errorOf,
  openReceiver,
  openSimulator,
  openStream,
  type TestSimulator,
} from '../../support/simulator.ts'

const event_types = ['check.created' as const]

/** A simulator that has delivered, or tried to, one event. */
async function withDelivery(answer: number, options = {}) {
  const simulator = await openSimulator(options)
  const receiver = await openReceiver(answer)
  const endpoint = await simulator.client.endpoints.create({ url: receiver.url, event_types })
  await simulator.push('dinner')
  await simulator.idle()
  return { simulator, receiver, endpoint, delivery: await newest(simulator) }
}

async function newest({ client }: TestSimulator): Promise<Delivery> {
  const [delivery] = (await client.deliveries.list({ limit: 1 })).data
  if (delivery === undefined) throw new Error('there is no delivery')
  return delivery
}

const resend = (simulator: TestSimulator, id: string, json: unknown = {}) =>
  simulator.call(`POST /_sim/deliveries/${id}/resend`, { json })

describe('POST /_sim/deliveries/{id}/resend', () => {
  it.each([{}, { fresh: true }])(
    'with %j answers 201 with a new delivery, which carries the same bytes, newly signed',
    async (body) => {
      const { simulator, receiver, endpoint, delivery } = await withDelivery(200)
      const answer = await resend(simulator, delivery.id, body)
      expect(answer.status).toBe(201)
      const resent = answer.json as Delivery
      const { event_id, event_type, endpoint_id, external_check_id } = delivery
      expect(resent).toMatchObject({ event_id, event_type, endpoint_id, external_check_id })
      expect(resent).toMatchObject({ status: 'pending', attempts: [], dead_reason: null })
      expect(resent.id > delivery.id).toBe(true)
      await simulator.idle()
      const [first, second] = await receiver.received(2)
      expect(second?.body).toEqual(first?.body)
      const header = String(second?.headers['x-service-signature'])
      const { signing_secret: secret } = endpoint
      expect(verify({ payload: second?.body ?? '', header, secret, now: new Date() }).ok).toBe(true)
      expect(await simulator.client.deliveries.get(resent.id)).toMatchObject({ status: 'delivered' })
      expect(await simulator.client.deliveries.get(delivery.id)).toEqual(delivery)
      expect((await simulator.client.events.list()).data).toHaveLength(1)
    },
  )

  it('gives the new delivery all attempts of the schedule, for any outcome of the first', async () => {
    const clock = createManualClock()
    const { simulator, receiver, delivery } = await withDelivery(500, { clock })
    for (const _retry of [1, 2, 3, 4, 5, 6]) {
      clock.advance(24 * 3_600_000)
      await simulator.idle()
    }
    expect(await simulator.client.deliveries.get(delivery.id)).toMatchObject({ dead_reason: 'exhausted' })
    await resend(simulator, delivery.id)
    await simulator.idle()
    expect(receiver.requests).toHaveLength(8)
    expect(await newest(simulator)).toMatchObject({ status: 'pending', attempts: [{ number: 1 }] })
    receiver.answer(200)
    clock.advance(60_000)
    await simulator.idle()
    expect(await newest(simulator)).toMatchObject({ status: 'delivered', attempts: [{}, { number: 2 }] })
  })

  it('to a disabled endpoint is 409, and nothing is sent', async () => {
    const { simulator, receiver, delivery } = await withDelivery(500, { disableAfter: 1 })
    const answer = await resend(simulator, delivery.id)
    expect(answer.status).toBe(409)
    expect(errorOf(answer).code).toBe('endpoint_disabled')
    await simulator.idle()
    expect(receiver.requests).toHaveLength(1)
  })

  it('to a deleted endpoint, or of an unknown delivery, is 404', async () => {
    const { simulator, endpoint, delivery } = await withDelivery(200)
    await simulator.client.endpoints.delete(endpoint.id)
    for (const id of [delivery.id, 'dlv_none']) {
      const answer = await resend(simulator, id)
      expect(answer.status).toBe(404)
      expect(errorOf(answer).code).toBe('not_found')
    }
    expect((await simulator.client.deliveries.list()).data).toHaveLength(1)
  })

  const mustBeBoolean = 'must be true (the default) or false'

  it.each<[body: unknown, path: string, message: string]>([
    [{ fresh: 'no' }, 'fresh', mustBeBoolean],
    [{ fresh: null }, 'fresh', mustBeBoolean],
    [[], 'body', 'must be an object, got an empty array'],
    [null, 'body', 'must be an object, got null'],
    [{ verbatim: true }, 'body', 'has unknown fields: verbatim'],
  ])('of %j is 422', async (body, path, message) => {
    const { simulator, delivery } = await withDelivery(200)
    const answer = await resend(simulator, delivery.id, body)
    expect(answer.status).toBe(422)
    expect(errorOf(answer)).toMatchObject({ code: 'validation_failed', issues: [{ path, message }] })
    expect((await simulator.client.deliveries.list()).data).toHaveLength(1)
  })

  it('with {fresh: false} repeats the header of the first attempt, in every attempt and every resend', async () => {
    const simulator = await openSimulator({ signTime: 'virtual', startAt: new Date('2026-11-22T00:00:00Z') })
    const { client, idle } = simulator
    const receiver = await openReceiver(500)
    await client.endpoints.create({ url: receiver.url, event_types })
    await client.clock.freeze(true)
    await simulator.push('dinner')
    await idle()
    await client.clock.advance('35h')
    const { id } = await newest(simulator)
    const verbatim = await client.deliveries.resend(id, { fresh: false })
    await client.clock.advance('10m')
    await client.deliveries.resend(verbatim.id, { fresh: false })
    await idle()
    const [first, second, ...rest] = receiver.requests.map(({ headers, body }) => ({
      header: String(headers['x-service-signature']),
      body: body.toString(),
    }))
    expect(second?.header).not.toBe(first?.header)
    expect(rest).toHaveLength(9)
    expect(rest.slice(-4)).toEqual([first, first, first, first])
  })

  it('shows signed_at in no response and no stream message', async () => {
    const { simulator, delivery } = await withDelivery(500)
    const stream = await openStream(simulator)
    const answers = [await resend(simulator, delivery.id, { fresh: false })]
    const attempt = await stream.next()
    for (const route of ['GET /_sim/deliveries', `GET /_sim/deliveries/${delivery.id}`])
      answers.push(await simulator.call(route))
    expect(answers.map(({ status }) => status)).toEqual([201, 200, 200])
    expect(attempt).toMatchObject({ type: 'attempt', data: { attempt: { outcome: 'bad_status' } } })
    for (const text of [...answers.map((answer) => answer.text), JSON.stringify(attempt)])
      expect(text).not.toContain('signed_at')
  })

  it('needs the scope simulate, and answers 405 to other methods', async () => {
    const { simulator, delivery } = await withDelivery(200)
    const route = `/_sim/deliveries/${delivery.id}/resend`
    const key = await simulator.key(['read', 'write'])
    expect((await simulator.call(`POST ${route}`, { key, json: {} })).status).toBe(403)
    const answer = await simulator.call(`GET ${route}`)
    expect(answer.status).toBe(405)
    expect(answer.headers.get('allow')).toBe('POST')
  })
})
