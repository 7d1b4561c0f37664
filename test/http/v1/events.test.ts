import { Stripe } from 'stripe'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { eventTypes } from '../../../src/model/event.ts'
import { createManualClock } from '../../support/manual-clock.ts'
import {
  check,
  item,
  openReceiver,
  openSimulator,
  testAuthority,
  totals,
  type TestSimulator,
} from '../../support/simulator.ts'

const { webhooks } = new Stripe('sk_test_x')
const MINUTE = 60_000

/** The text of `data` in the text of an envelope, as it stands there. */
const dataIn = (envelope: string) => envelope.slice(envelope.indexOf('"data":') + '"data":'.length, -1)
const getText = async (simulator: TestSimulator, id: string) =>
  (await simulator.call(`GET /v1/checks/external/${encodeURIComponent(id)}`)).text
const newestEvents = async ({ client }: TestSimulator, count: number) =>
  (await client.events.list({ limit: 100 })).data.slice(0, count).reverse()

describe('one event per trigger, in order', () => {
  const open = check({ revision: 1 })
  it.each<[what: string, before: object | null, push: object, types: string[]]>([
    ['a new check', null, open, ['check.created']],
    ['a new check that is closed', null, { ...open, status: 'closed' }, ['check.created', 'check.closed']],
    ['a changed total', open, check({ revision: 2, totals: totals(1) }), ['check.updated']],
    ['another table', open, check({ revision: 2, table: { number: '3' } }), ['check.updated']],
    ['an added item', open, check({ revision: 2, items: [item('burger'), item('tea')] }), ['check.updated']],
    ['a removed item', open, check({ revision: 2, items: [] }), ['check.updated']],
    [
      'a changed note',
      open,
      check({ revision: 2, items: [item('burger', { note: 'rare' })] }),
      ['check.updated'],
    ],
    [
      'items in another order',
      check({ revision: 1, items: [item('a'), item('b')] }),
      check({ revision: 2, items: [item('b'), item('a')] }),
      ['check.updated'],
    ],
    ['a pure close', open, check({ revision: 2, status: 'closed' }), ['check.closed']],
    [
      'a close with a change',
      open,
      check({ revision: 2, status: 'closed', totals: totals(1) }),
      ['check.updated', 'check.closed'],
    ],
    ['a reopening', check({ revision: 1, status: 'closed' }), check({ revision: 2 }), ['check.updated']],
    ['a replay', open, open, []],
    ['a stale push', check({ revision: 2 }), check({ revision: 1, totals: totals(1) }), []],
    ['a refused push', open, check({ revision: 2, totals: totals(-1) }), []],
  ])('%s', async (_what, before, push, types) => {
    const simulator = await openSimulator()
    if (before !== null) await simulator.push('a', before)
    const known = (await newestEvents(simulator, 100)).length
    await simulator.push('a', push)
    const events = (await newestEvents(simulator, 100)).slice(known)
    expect(events.map(({ type }) => type)).toEqual(types)
    expect(new Set(events.map(({ id }) => id)).size).toBe(types.length)
    for (const { body } of events) expect(dataIn(body)).toBe(await getText(simulator, 'a'))
  })
})

describe('a delivery', () => {
  it('contains an envelope whose data equals, byte for byte, the response of GET right after the change', async () => {
    const simulator = await openSimulator()
    const receiver = await openReceiver()
    const event_types = ['check.created' as const, 'check.updated' as const, 'check.closed' as const]
    await simulator.client.endpoints.create({ url: receiver.url, event_types })
    const id = 'bill / 1 🍮'
    const texts: string[] = []
    for (const push of [
      check({ items: [item('i', { name: 'Crème "brûlée" \\ \u2028', quantity: 0.333, price_cents: -1 })] }),
      check({ table: { number: '担' }, totals: totals(Number.MAX_SAFE_INTEGER) }),
      check({ table: { number: '担' }, totals: totals(Number.MAX_SAFE_INTEGER), status: 'closed' }),
    ]) {
      await simulator.push(id, push)
      texts.push(await getText(simulator, id))
      await simulator.idle()
    }
    const bodies = receiver.requests.map(({ body }) => body.toString())
    expect(bodies.map(dataIn)).toEqual(texts)
    expect(bodies.map((body) => (JSON.parse(body) as { type: string }).type)).toEqual(event_types)
    const events = await newestEvents(simulator, 3)
    expect(events.map(({ body }) => body)).toEqual(bodies)
    for (const { id, type, created_at, body } of events)
      expect(body.startsWith(JSON.stringify({ id, type, created_at }).slice(0, -1))).toBe(true)
  })

  it('is created only for the types that an endpoint lists', async () => {
    const simulator = await openSimulator()
    const receivers = await Promise.all([openReceiver(), openReceiver(), openReceiver()])
    const wanted = [['check.closed'], [...eventTypes], ['payment.succeeded']] as const
    for (const [index, event_types] of wanted.entries())
      await simulator.client.endpoints.create({
        url: receivers[index]?.url ?? '',
        event_types: [...event_types],
      })
    await simulator.push('a')
    await simulator.push('a', { status: 'closed', totals: totals(1) })
    await simulator.idle()
    const typesAt = receivers.map(({ requests }) =>
      requests.map(({ body }) => (JSON.parse(body.toString()) as { type: string }).type).sort(),
    )
    expect(typesAt).toEqual([['check.closed'], ['check.closed', 'check.created', 'check.updated'], []])
    expect((await simulator.client.deliveries.list()).data).toHaveLength(4)
  })

  it('goes to endpoints that exist at the time of the event, not to later ones', async () => {
    const simulator = await openSimulator()
    const receiver = await openReceiver()
    await simulator.push('a')
    await simulator.client.endpoints.create({
      url: receiver.url,
      event_types: ['check.created', 'check.updated'],
    })
    await simulator.push('a', { totals: totals(1) })
    await simulator.idle()
    expect(receiver.requests).toHaveLength(1)
  })
})

describe('retries', () => {
  afterEach(() => void vi.useRealTimers())

  it('send the same bytes, each newly signed with its own t, which Stripe’s library accepts', async () => {
    await testAuthority()
    const clock = createManualClock()
    const receiver = await openReceiver([500, 500, 200])
    const simulator = await openSimulator({ clock })
    vi.useFakeTimers({ toFake: ['Date'] }) // signatures carry the real time
    const began = Math.floor(Date.now() / 1000)
    const { signing_secret } = await simulator.client.endpoints.create({
      url: receiver.url,
      event_types: ['check.created'],
    })
    await simulator.push('a')
    for (const wait of [0, 1, 5]) {
      vi.setSystemTime(Date.now() + wait * MINUTE)
      clock.advance(wait * MINUTE)
      await simulator.idle()
      const { body, headers } = receiver.requests.at(-1) ?? {}
      const header = String(headers?.['x-service-signature'])
      const event = webhooks.constructEvent(body ?? '', header, signing_secret) as object
      expect(event).toMatchObject({ type: 'check.created', data: { external_id: 'a' } })
      expect(() => webhooks.constructEvent(`${body?.toString()} `, header, signing_secret)).toThrow()
    }
    const [{ body, ...event } = { body: '' }] = await newestEvents(simulator, 1)
    expect(receiver.requests.map((request) => request.body.toString())).toEqual([body, body, body])
    const times = receiver.requests.map(
      ({ headers }) => /^t=(\d+),v1=[0-9a-f]{64}$/.exec(String(headers['x-service-signature']))?.[1],
    )
    expect(times.map((time) => Number(time) - began)).toEqual([0, 60, 360])
    expect((await simulator.client.deliveries.list()).data).toMatchObject([
      {
        event_id: (event as { id: string }).id,
        status: 'delivered',
        attempts: [{ number: 1 }, { number: 2 }, { number: 3 }],
      },
    ])
  })
})
