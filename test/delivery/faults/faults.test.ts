import { describe, expect, it } from 'vitest'
import type { Delivery } from '../../../src/model/delivery.ts'
import type { Fault } from '../../../src/model/simulator/fault.ts'
import type { SimulatorOptions } from '../../../src/simulator.ts'
import { openReceiver, openSimulator, openStream, temporaryDirectory } from '../../support/simulator.ts'

type OnDeliveries = Extract<Fault, { on: 'deliveries' }>

const startAt = new Date('2026-11-21T18:00:00.000Z')

/** Opens a service with a frozen clock, a receiver of new and closed checks, and this fault. */
async function openFaulty(fault: Omit<OnDeliveries, 'on'>, options: SimulatorOptions = {}) {
  const simulator = await openSimulator({ startAt, ...options })
  await simulator.client.clock.freeze(true)
  const start = Date.parse((await simulator.client.clock.show()).now)
  const receiver = await openReceiver()
  const endpoint = await simulator.client.endpoints.create({
    url: receiver.url,
    event_types: ['check.created', 'check.closed'],
  })
  await simulator.client.faults.set({ faults: [{ on: 'deliveries', ...fault }] })
  return {
    ...simulator,
    receiver,
    endpoint,
    /** The checks whose deliveries have arrived, in that order. */
    arrived: () =>
      receiver.requests.map(({ body }) => {
        const { data } = JSON.parse(body.toString()) as { data: { external_id: string } }
        return data.external_id
      }),
    /** Oldest first. */
    deliveries: async () => (await simulator.client.deliveries.list({ limit: 100 })).data.toReversed(),
    seconds: (time: string | null | undefined) => (Date.parse(time ?? '') - start) / 1000,
  }
}

const faultsOf = (deliveries: readonly Delivery[]) =>
  deliveries.map(({ attempts }) => attempts.map(({ faults }) => faults))

describe('drop', () => {
  it('fails the attempt without sending it, and the retry is made', async () => {
    const { push, client, idle, receiver, deliveries, seconds } = await openFaulty({ drop: 1, times: 1 })
    await push('a')
    await idle()
    expect(receiver.requests).toEqual([])
    await client.clock.advance('1m')
    const [delivery] = await deliveries()
    expect(delivery).toMatchObject({
      status: 'delivered',
      attempts: [
        {
          number: 1,
          duration_ms: 0,
          outcome: 'dropped',
          response_status: null,
          response_body: null,
          error: 'Not sent: an injected fault dropped this delivery. Run tabwire faults show.',
          faults: ['drop'],
        },
        { number: 2, outcome: 'succeeded' },
      ],
    })
    expect(seconds(delivery?.attempts[1]?.started_at)).toBe(60)
    expect(delivery?.attempts[1]).not.toHaveProperty('faults')
    expect(receiver.requests).toHaveLength(1)
  })

  it('of every attempt ends with a dead delivery and a disabled endpoint', async () => {
    const { push, client, idle, endpoint, deliveries } = await openFaulty({ drop: 1 }, { disableAfter: 2 })
    await push('a')
    await client.clock.advance('36h')
    expect(await deliveries()).toMatchObject([{ status: 'dead', dead_reason: 'exhausted' }])
    await push('b')
    await idle()
    expect(await client.endpoints.get(endpoint.id)).toMatchObject({ status: 'disabled' })
  })
})

describe('duplicate', () => {
  it('sends the same bytes with the same signature twice in one attempt', async () => {
    const { push, idle, receiver, deliveries } = await openFaulty({ duplicate: 1 })
    receiver.answer([200, 500])
    await push('a')
    await idle()
    const [one, other] = receiver.requests
    expect(receiver.requests).toHaveLength(2)
    expect(other?.body).toEqual(one?.body)
    expect(other?.headers).toEqual(one?.headers)
    expect(await deliveries()).toMatchObject([
      { status: 'delivered', attempts: [{ response_status: 200, faults: ['duplicate'] }] },
    ])
  })
})

describe('delay', () => {
  it('holds only that delivery back, by the clock of the service', async () => {
    const faulty = await openFaulty({ delay: 1, delay_ms: 90_000, event_types: ['check.created'] })
    const { push, client, idle, arrived, deliveries, seconds } = faulty
    await push('late')
    await push('late', { status: 'closed' })
    await idle()
    const [held, free] = await deliveries()
    expect(free).toMatchObject({ event_type: 'check.closed', status: 'delivered' })
    expect(held).toMatchObject({ status: 'pending', attempts: [], held: { faults: ['delay'] } })
    expect(seconds(held?.next_attempt_at)).toBe(90)
    await client.clock.advance('89s')
    expect(arrived()).toHaveLength(1)
    await client.clock.advance('1s')
    const [sent] = await deliveries()
    expect(sent).toMatchObject({ status: 'delivered', attempts: [{ faults: ['delay'], held_ms: 90_000 }] })
    expect(seconds(sent?.attempts[0]?.started_at)).toBe(90)
    expect(sent).not.toHaveProperty('held')
  })

  it('survives a restart: a held delivery is sent when it is due', async () => {
    const dataDirectory = await temporaryDirectory()
    const first = await openFaulty({ delay: 1, delay_ms: 60_000, duplicate: 1 }, { dataDirectory })
    await first.push('a')
    await first.idle()
    await first.close()
    const second = await openSimulator({ dataDirectory })
    expect(await second.client.faults.show()).toEqual({ seed: 1, faults: [] })
    await second.client.clock.advance('1m')
    const [delivery] = (await second.client.deliveries.list()).data
    expect(delivery).toMatchObject({ status: 'delivered', attempts: [{ faults: ['duplicate', 'delay'] }] })
    expect(first.receiver.requests).toHaveLength(2)
  })

  it('is decided separately for each attempt', async () => {
    const { push, client, receiver, deliveries, seconds } = await openFaulty({ delay: 1, delay_ms: 10_000 })
    receiver.answer([500, 200])
    await push('a')
    await client.clock.advance('10m')
    const [delivery] = await deliveries()
    expect(delivery?.attempts.map(({ started_at }) => seconds(started_at))).toEqual([10, 80])
  })

  it('ends when its endpoint is deleted', async () => {
    const { push, client, idle, endpoint, deliveries } = await openFaulty({ delay: 1 })
    await push('a')
    await idle()
    await client.endpoints.delete(endpoint.id)
    const [delivery] = await deliveries()
    expect(delivery).toMatchObject({ status: 'dead', dead_reason: 'endpoint_disabled' })
    expect(delivery).not.toHaveProperty('held')
  })
})

describe('reorder', () => {
  it('holds every other delivery back until a later one has overtaken it', async () => {
    const { push, idle, arrived, deliveries } = await openFaulty({ reorder: 1 })
    for (const id of ['a', 'b', 'c', 'd']) {
      await push(id)
      await idle()
    }
    expect(arrived()).toEqual(['b', 'a', 'd', 'c'])
    expect(faultsOf(await deliveries())).toEqual([[['reorder']], [undefined], [['reorder']], [undefined]])
  })

  it('releases a delivery that nothing overtakes after reorder_ms', async () => {
    const { push, client, idle, arrived } = await openFaulty({ reorder: 1, reorder_ms: 5_000 })
    await push('a')
    await idle()
    await client.clock.advance('4999ms')
    expect(arrived()).toEqual([])
    await client.clock.advance('1ms')
    expect(arrived()).toEqual(['a'])
  })

  it('does not count a dropped delivery as overtaking', async () => {
    const { push, client, idle, arrived } = await openFaulty({ reorder: 1 })
    const { faults } = await client.faults.show()
    const drop: Fault = { on: 'deliveries', drop: 1, event_types: ['check.closed'] }
    await client.faults.set({ faults: [...faults, drop] })
    await push('a')
    await push('a', { status: 'closed' })
    await idle()
    expect(arrived()).toEqual([])
    await client.clock.advance('1m')
    expect(arrived()).toEqual(['a'])
  })

  it('combines with delay: the delivery is late even when overtaken', async () => {
    const { push, client, arrived, deliveries, seconds } = await openFaulty({ reorder: 1, delay: 1 })
    await push('a')
    await push('b')
    await client.clock.advance('30s')
    expect(arrived()).toEqual(['b', 'a'])
    const started = (await deliveries()).map(({ attempts }) => seconds(attempts[0]?.started_at))
    expect(started).toEqual([30, 30])
  })
})

describe('faults on deliveries', () => {
  it('do not apply to pings', async () => {
    const { client, endpoint } = await openFaulty({ drop: 1, delay: 1 })
    expect(await client.endpoints.ping(endpoint.id)).toMatchObject({ outcome: 'succeeded' })
  })

  it('apply to the endpoints that they name', async () => {
    const { client, push, idle, endpoint, deliveries } = await openFaulty({ drop: 1 })
    const { url } = await openReceiver()
    await client.endpoints.create({ url, event_types: ['check.created'] })
    await client.faults.set({ faults: [{ on: 'deliveries', drop: 1, endpoint_ids: [endpoint.id] }] })
    await push('a')
    await idle()
    expect(faultsOf(await deliveries())).toEqual([[['drop']], [undefined]])
  })

  it('count injections and remaining ones, and begin with the next delivery', async () => {
    const { client, push, idle } = await openFaulty({ drop: 1, times: 2 })
    for (const id of ['a', 'b', 'c']) await push(id)
    await idle()
    const { faults } = await client.faults.show()
    expect(faults).toEqual([{ on: 'deliveries', drop: 1, times: 2, left: 0, happened: { drop: 2 } }])
    // A response of GET can be set again, here with no injections left.
    await client.faults.set({ faults })
    await push('d')
    await idle()
    const [newest] = (await client.deliveries.list()).data
    expect(newest).toMatchObject({ status: 'delivered' })
  })

  it('apply to retries of deliveries that were pending when they were set', async () => {
    const { client, push, idle, receiver, deliveries } = await openFaulty({ delay: 0 })
    receiver.answer([500, 200])
    await push('a')
    await idle()
    await client.faults.set({ faults: [{ on: 'deliveries', drop: 1, times: 1 }] })
    await client.clock.advance('6m')
    expect(faultsOf(await deliveries())).toEqual([[undefined, ['drop'], undefined]])
  })

  it('release held deliveries when they are cleared', async () => {
    const { client, push, idle, arrived } = await openFaulty({ delay: 1, reorder: 0.5 })
    for (const id of ['a', 'b', 'c']) await push(id)
    await idle()
    expect(arrived()).toEqual([])
    expect(await client.faults.clear()).toEqual({ seed: 1, faults: [] })
    await idle()
    expect(arrived().sort()).toEqual(['a', 'b', 'c'])
  })

  it('appear in the stream with their attempt, which is sent once', async () => {
    const faulty = await openFaulty({ delay: 1 })
    const { client, push, receiver } = faulty
    receiver.answer([500, 200])
    const stream = await openStream(faulty)
    await push('a')
    await client.clock.advance('10m')
    const seen = (await stream.take(4)).flatMap(({ type, data }) =>
      type === 'attempt' ? [data.attempt] : [],
    )
    expect(seen).toMatchObject([
      { number: 1, faults: ['delay'], held_ms: 30_000 },
      { number: 2, faults: ['delay'], held_ms: 30_000 },
    ])
  })
})
