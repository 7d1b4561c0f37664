import { afterAll, beforeAll, beforeEach, describe, expect, expectTypeOf, test } from 'vitest'
import {
  createClient,
  NotDelivered,
  NotHappened,
  TimedOut,
  type Client,
  type DeliveriesQuery,
  type ErrorCode,
  type EventsQuery,
  type EventView,
  type RequestsQuery,
  type StreamMessage,
} from '../../src/client.ts'
import { ApiError, createSimulator, type Simulator, type SimulatorOptions } from '../../src/index.ts'
import type { Check } from '../../src/model/check.ts'
import type { ClaimView, PaymentView } from '../../src/model/guests/records.ts'
import { check, item } from '../support/simulator.ts'

const SHOP = 'https://shop.test/webhooks'

let simulator: Simulator
let overHttp: Client
let answer: () => Response | Promise<Response>
beforeAll(async () => {
  simulator = await createSimulator()
  overHttp = createClient({ url: simulator.url, apiKey: simulator.apiKey })
  simulator.receive(SHOP, () => answer())
})
afterAll(() => simulator.close())
beforeEach(async () => {
  await simulator.reset()
  answer = () => new Response(null, { status: 204 })
})

/** The calls of a client, as both have them. */
const both: [string, () => Client][] = [
  ['the simulator', () => simulator],
  ['a client over HTTP', () => overHttp],
]

/** The calls of a client by their names, such as `checks.get`. */
function callsOf(client: object): Record<string, unknown> {
  const calls = Object.entries(client).flatMap(([name, one]: [string, unknown]) =>
    typeof one === 'object' && one !== null
      ? Object.entries(one).map(([call, value]: [string, unknown]) => [`${name}.${call}`, value] as const)
      : [[name, one] as const],
  )
  return Object.fromEntries(calls)
}

test('the simulator has every call of the client', () => {
  expect(Object.keys(callsOf(simulator))).toEqual(expect.arrayContaining(Object.keys(callsOf(overHttp))))
})

describe.each(both)('%s', (_name, client) => {
  test('registers a receiver for all events by default, or for the named ones', async () => {
    const { event_types } = await client().endpoints.create({ url: SHOP })
    expect(event_types).toHaveLength(8)
    const named = await client().endpoints.create({ url: `${SHOP}/named`, event_types: ['check.closed'] })
    expect(named.event_types).toEqual(['check.closed'])
  })

  test('waits for deliveries', async () => {
    await client().endpoints.create({ url: SHOP })
    const coming = client().deliveries.waitFor({ type: 'check.created', check: 'table-12' })
    await client().checks.push('table-12', check())
    expect(await coming).toMatchObject([{ event_type: 'check.created', status: 'delivered' }])
  })

  test('ends a wait when its signal aborts', async () => {
    const { signal, stop } = stopping()
    const reason = new Error('enough')
    const waits = [
      client().deliveries.waitFor({ signal }),
      client().events.waitFor('check.created', { signal }),
    ].map((wait) => expect(wait).rejects.toBe(reason))
    stop(reason)
    await Promise.all(waits)
    await expect(client().deliveries.waitFor({ signal })).rejects.toBe(reason)
    await expect(client().deliveries.none({ signal })).rejects.toBe(reason)
  })

  test('none resolves when no delivery is in flight, without waiting for retries', async () => {
    await client().deliveries.none()
    await client().endpoints.create({ url: SHOP })
    answer = () => new Response(null, { status: 500 })
    await client().checks.push('table-12', check())
    await client().deliveries.none({ check: 'table-12' })
    const error = await client()
      .deliveries.none({ status: 'pending' })
      .catch((reason: unknown) => reason)
    expect(error).toBeInstanceOf(NotDelivered)
    expect(error).toMatchObject({ code: 'came_anyway', seen: [{ event_type: 'check.created' }] })
    await client().clock.advance('36h')
    await client().deliveries.none()
    await expect(client().deliveries.none({ status: 'dead' })).rejects.toThrow(
      /^Expected no dead deliveries, found dlv_/,
    )
  })

  test('none waits for attempts in flight, and rejects with TimedOut when they take too long', async () => {
    await client().endpoints.create({ url: SHOP })
    const { promise, resolve } = deferred<Response>()
    answer = () => promise
    await client().checks.push('table-12', check())
    await expect(client().deliveries.none({ timeout: 0 })).rejects.toThrow(TimedOut)
    const none = client().deliveries.none()
    resolve(new Response(null, { status: 204 }))
    await expect(none).rejects.toThrow(NotDelivered)
  })

  test('waits for an event, and types its data by the event type', async () => {
    const coming = client().events.waitFor('payment.succeeded', { check: 'table-12' })
    await client().checks.push('table-11', check({ items: [item('burger')] }))
    await client().checks.push('table-12', check({ items: [item('burger')] }))
    await client().guests.pay('table-11')
    const payment = await client().guests.pay('table-12')
    const { data } = await coming
    expectTypeOf(data).toEqualTypeOf<PaymentView>()
    expect(data.id).toBe(payment.id)
    expect((await client().events.waitFor('check.created', { timeout: 0 })).data.external_id).toBe('table-11')
  })

  test('names the events that happened when the expected one did not', async () => {
    await client().checks.push('table-12', check())
    const wait = client().events.waitFor('check.closed', { check: 'table-12', timeout: 0 })
    await expect(wait).rejects.toThrow(NotHappened)
    await expect(wait).rejects.toThrow(
      /^Expected check\.closed for check table-12; none occurred\. Waited 0 s\.\nThe latest events:\n {2}check\.created for check table-12$/,
    )
  })

  test('iterates over all records of a list, page by page, and stops with its loop', async () => {
    for (const id of ['a', 'b', 'c']) await client().checks.push(id, check())
    const ids: string[] = []
    for await (const { external_id } of client().checks.all({ limit: 1 })) ids.push(external_id)
    expect(ids).toEqual(['c', 'b', 'a'])
    for await (const { external_check_id } of client().events.all({ type: 'check.created', order: 'asc' })) {
      expect(external_check_id).toBe('a')
      break
    }
  })

  test('saves and loads the state, also with the earlier names of these calls', async () => {
    await client().checks.push('kept', check())
    const saved = await client().state.save()
    expect(await client().state.get()).toMatchObject({ checks: saved.checks })
    for (const load of [client().state.load, client().state.put]) {
      await client().reset()
      await load(saved)
      expect(await client().checks.get('kept')).toMatchObject({ external_id: 'kept' })
    }
  })

  test('refuses filters and options that it would ignore', async () => {
    const { checks, payments, guests } = client()
    await expect(checks.list({ stauts: 'open' } as never)).rejects.toThrow(
      'unknown option "stauts", did you mean "status"?',
    )
    await expect(payments.all({ check: 'a' } as never).next()).rejects.toThrow('unknown option "check"')
    await expect(guests.play({ sed: 2 } as never)).rejects.toThrow('did you mean "seed"?')
    await expect(guests.play({ guests: 13 })).rejects.toThrow(
      'guests must be a whole number from 1 to 12, got 13.',
    )
    await expect(client().clock.advance('1m', 5 as never)).rejects.toThrow(
      'options must be an object, got 5.',
    )
    expect(await checks.list({ status: undefined, limit: 1 })).toMatchObject({ data: [] })
  })

  test.each<[name: string, ...args: unknown[]]>([
    ['account', { closed: true }],
    ['bundle', { until: '1h' }],
    ['deliveries.resend', 'dlv_1', { verbatim: true }],
    ['endpoints.create', { url: SHOP, types: [] }],
    ['clock.advance', '1m', { wait: 1 }],
    ['clock.moveTo', 0, { wait: 1 }],
    ['clock.freeze', true, { wait: 1 }],
    ['state.save', { wait: 1 }],
    ['reset', { wait: 1 }],
  ])('%s refuses unknown options, and does nothing', async (name, ...args) => {
    const call = callsOf(client())[name] as (...given: unknown[]) => Promise<unknown>
    await expect(call(...args)).rejects.toThrow(TypeError)
    await expect(call(...args)).rejects.toThrow(/^unknown option "(closed|until|verbatim|types|wait)"/)
    expect((await client().endpoints.list()).data).toEqual([])
    expect(await client().clock.show()).toMatchObject({ frozen: false, offset_ms: 0 })
  })

  test('rejects, and does not throw, for an argument of a wrong kind', async () => {
    const calls = Object.keys(callsOf(overHttp)).filter((name) => !/^stream$|\.all$/.test(name))
    for (const name of calls) {
      const call = callsOf(client())[name] as (given: null) => unknown
      const answer = call(null)
      expect([name, answer]).toEqual([name, expect.any(Promise)])
      await Promise.allSettled([answer])
    }
  })

  test('refuses a state without fields by the name of the first one', async () => {
    for (const state of [{}, { format: undefined }])
      await expect(client().state.load(state as never)).rejects.toThrow('Invalid body: format is required')
  })

  test('streams until its loop ends, and sends any request', async () => {
    const seen: StreamMessage['type'][] = []
    const { promise: open, resolve } = deferred<true>()
    const reading = (async () => {
      for await (const message of client().stream({ onOpen: () => resolve(true) })) {
        seen.push(message.type)
        if (message.type === 'event') return message.data
      }
      return undefined
    })()
    await open
    await client().request('PUT', '/v1/checks/external/table-12', check())
    expect(await reading).toMatchObject({ type: 'check.created', data: { external_id: 'table-12' } })
    expect(await client().request('GET', '/_sim/health')).toMatchObject({
      status: 200,
      json: { status: 'ok' },
    })
  })

  test.each([
    [
      'a misspelt event type',
      { type: 'check.creatd' },
      'unknown event type "check.creatd", did you mean "check.created"?',
    ],
    ['a misspelt status', { status: 'delivred' }, 'unknown status "delivred", did you mean "delivered"?'],
    ['a misspelt option', { chek: 'a' }, 'unknown option "chek", did you mean "check"?'],
  ])('refuses %s at once', async (_what, wanted, message) => {
    const error = new TypeError(message)
    await expect(client().deliveries.waitFor(wanted as object)).rejects.toThrow(error)
    await expect(client().deliveries.none(wanted as object)).rejects.toThrow(error)
  })

  test('refuses a misspelt event type in a wait for events at once', async () => {
    await expect(client().events.waitFor('check.creatd' as 'ping')).rejects.toThrow(
      new TypeError('unknown event type "check.creatd", did you mean "check.created"?'),
    )
  })
})

describe.each(both)('%s accepts times as text, number and Date', (_name, client) => {
  const time = '2026-11-21T18:00:00.000Z'
  test.each([time, Date.parse(time), new Date(time)])('%j', async (since) => {
    expect((await client().report(since)).since).toBe(time)
    for await (const message of client().stream({ since })) {
      expect(message.type).toMatch(/^(request|attempt|live)$/)
      break
    }
  })

  test('the service refuses an invalid text', async () => {
    await expect(client().report('yesterday')).rejects.toMatchObject({ code: 'invalid_query' })
  })
})

describe('a request that was received in this process', () => {
  test('has headers, raw body and the status of the response, and is removed by a reset', async () => {
    await simulator.endpoints.create({ url: `${SHOP}/pos` })
    answer = () => new Response(null, { status: simulator.received(SHOP).length === 1 ? 503 : 204 })
    await simulator.checks.push('table-12', check())
    await simulator.idle()
    await simulator.clock.advance('1m')
    const received = simulator.received(SHOP)
    expect(received.map(({ url, status }) => [url, status])).toEqual([
      [`${SHOP}/pos`, 503],
      [`${SHOP}/pos`, 204],
    ])
    const event = await simulator.events.waitFor('check.created')
    expect(received.map(({ body }) => body)).toEqual([event.body, event.body])
    expect(received[0]?.headers.get('x-service-signature')).toMatch(/^t=\d+,v1=/)
    await simulator.reset()
    expect(simulator.received(SHOP)).toEqual([])
  })

  test('is answered with 204 unless a receiver answers otherwise', async () => {
    const url = 'https://silent.test/'
    const takeBack = simulator.receive(url)
    await simulator.endpoints.create({ url })
    await simulator.checks.push('table-12', check())
    await simulator.deliveries.waitFor({ check: 'table-12' })
    expect(simulator.received(url)).toMatchObject([{ status: 204 }])
    takeBack()
  })

  test('is listed only for a URL with a receiver', () => {
    expect(() => simulator.received('https://else.test/')).toThrow(
      'No receiver in this process handles https://else.test. Register one with simulator.receive("https://else.test/").',
    )
    expect(() => simulator.received('webhooks')).toThrow(/must be absolute/)
  })
})

describe('types', () => {
  test('give the data of each event type', () => {
    const read = (event: EventView) => {
      if (event.type === 'claim.created') expectTypeOf(event.data).toEqualTypeOf<ClaimView>()
      if (event.type === 'check.closed') expectTypeOf(event.data).toEqualTypeOf<Check>()
    }
    const follow = (message: StreamMessage) => {
      if (message.type === 'event' && message.data.type === 'check.closed')
        expectTypeOf(message.data.data).toEqualTypeOf<Check>()
      if (message.type === 'dropped') expectTypeOf(message.data.count).toBeNumber()
    }
    expect([typeof read, typeof follow]).toEqual(['function', 'function'])
  })

  test('give the codes of errors, and the fields of each code', async () => {
    const error: unknown = await simulator.checks.push('table-12', '{}').catch((reason: unknown) => reason)
    if (!(error instanceof ApiError)) throw new Error('The push was accepted.')
    expectTypeOf(error.code).toEqualTypeOf<ErrorCode>()
    expectTypeOf<ApiError['code']>().toEqualTypeOf<ErrorCode>()
    expectTypeOf<'not_found' | 'fault_injected'>().toExtend<ErrorCode>()
    expectTypeOf<'not_fond'>().not.toExtend<ErrorCode>()
    expect(error.is('not_found')).toBe(false)
    if (!error.is('validation_failed')) throw error
    expectTypeOf(error.code).toEqualTypeOf<'validation_failed'>()
    expectTypeOf(error.body.issues).toEqualTypeOf<{ path: string; message: string }[]>()
    expect(error.body.issues.map(({ path }) => path)).toContain('table')
  })

  test('have one query type per list', () => {
    expectTypeOf<Parameters<Client['deliveries']['list']>[0]>().toEqualTypeOf<DeliveriesQuery | undefined>()
    expectTypeOf<Parameters<Client['events']['all']>[0]>().toEqualTypeOf<EventsQuery | undefined>()
    expectTypeOf<{ status: 'lost' }>().not.toExtend<DeliveriesQuery>()
    expectTypeOf<{ type: 'check.creatd' }>().not.toExtend<EventsQuery>()
    expectTypeOf<{ failed: true; finding: 'any' }>().toExtend<RequestsQuery>()
    expectTypeOf<'chek'>().not.toExtend<keyof DeliveriesQuery>()
  })

  test('accept options with the names of the flags, and with earlier names', () => {
    expectTypeOf<{
      dataDir: string
      cacert: string[]
      rateLimit: '10/s'
      clock: string
    }>().toExtend<SimulatorOptions>()
    expectTypeOf<{
      dataDirectory: string
      ca: string[]
      startAt: Date
      allowedHosts: string[]
    }>().toExtend<SimulatorOptions>()
    expectTypeOf<{ clock: boolean }>().not.toExtend<SimulatorOptions>()
  })
})

function deferred<T>() {
  let resolve: (value: T) => void = () => {}
  const promise = new Promise<T>((settle) => (resolve = settle))
  return { promise, resolve: (value: T) => resolve(value) }
}

function stopping() {
  const controller = new AbortController()
  return { signal: controller.signal, stop: (reason: Error) => controller.abort(reason) }
}
