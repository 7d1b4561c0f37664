import { describe, expect, it } from 'vitest'
import type { Delivery } from '../../../src/model/delivery.ts'
import { bundleOf } from '../../../src/model/simulator/bundle.ts'
import type { SentRequest } from '../../../src/model/simulator/sent-request.ts'
import type { SimulatorOptions } from '../../../src/simulator.ts'
import { startReplay } from '../../../src/simulator.ts'
import type { Received } from '../../support/https-receiver.ts'
import {
  callAt,
  check,
  openReceiver,
  openSimulator,
  temporaryDirectory,
  totals,
  type TestSimulator,
} from '../../support/simulator.ts'

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736'
const SPAN = '00f067aa0ba902b7'
const traceparent = `00-${TRACE}-${SPAN}-01`
const tracestate = 'rojo=00f067aa0ba902b7, congo=t61rcWkgMzE'
const traced = { traceparent, tracestate }

const event_types = ['check.created' as const]

const pushWith = ({ call }: TestSimulator, id: string, headers: Record<string, string> = traced) =>
  call(`PUT /v1/checks/external/${id}`, { json: check(), headers })

/** A service with an endpoint at a receiver. */
async function open(options: SimulatorOptions = {}) {
  const simulator = await openSimulator({ trace: true, ...options })
  const receiver = await openReceiver()
  await simulator.client.endpoints.create({ url: receiver.url, event_types })
  return { simulator, receiver }
}

/** Returns the span id of a request; the rest of its trace context must be that of the push. */
function spanOf(received: Received | undefined): string {
  expect(received?.headers.tracestate).toBe(tracestate)
  const [, span = ''] =
    new RegExp(`^00-${TRACE}-([0-9a-f]{16})-01$`).exec(String(received?.headers.traceparent)) ?? []
  expect(span).toMatch(/[1-9a-f]/)
  expect(span).not.toBe(SPAN)
  return span
}

const newest = async ({ client }: TestSimulator): Promise<Delivery | undefined> =>
  (await client.deliveries.list({ limit: 1 })).data[0]

describe('with --trace', () => {
  it('sends each attempt in the trace of the push, with a span id of its own', async () => {
    const { simulator, receiver } = await open({ disableAfter: 0 })
    receiver.answer([503, 503, 200])
    expect((await pushWith(simulator, 'dinner')).status).toBe(201)
    await simulator.idle()
    await simulator.client.clock.advance('10m')
    const received = await receiver.received(3)
    const spans = received.map(spanOf)
    expect(new Set(spans).size).toBe(3)
    const delivery = await newest(simulator)
    expect(delivery?.attempts.map((attempt) => attempt.traceparent)).toEqual(
      received.map(({ headers }) => headers.traceparent),
    )
    const sent = await simulator.call(`GET /_sim/deliveries/${delivery?.id}/request?attempt=2`)
    const shown = (sent.json as SentRequest).headers
    expect(Object.fromEntries(shown.map(({ name, value }) => [name.toLowerCase(), value]))).toEqual(
      received[1]?.headers,
    )
  })

  it('shows the trace id in the request log, also of refused requests and reads', async () => {
    const { simulator } = await open()
    const { client, call } = simulator
    await pushWith(simulator, 'dinner')
    await call('PUT /v1/checks/external/a', { json: {}, headers: traced })
    await call('GET /v1/checks', { key: null, headers: traced })
    await call('GET /v1/checks')
    const { data } = await client.requests.list({ order: 'asc' })
    expect(data.map(({ status, trace_id }) => [status, trace_id])).toEqual([
      [201, undefined],
      [201, TRACE],
      [422, TRACE],
      [401, TRACE],
      [200, undefined],
    ])
    expect(await client.requests.get(data[1]?.id ?? '')).toMatchObject({ trace_id: TRACE })
    expect((await client.requests.list({ q: TRACE })).data).toHaveLength(3)
    await simulator.idle()
    expect((await client.deliveries.list({ q: TRACE })).data).toHaveLength(1)
    expect((await client.events.list()).data).toMatchObject([traced])
  })

  it('covers every request that causes an event', async () => {
    const simulator = await openSimulator({ trace: true })
    const { client, call } = simulator
    const receiver = await openReceiver()
    const { id } = await client.endpoints.create({
      url: receiver.url,
      event_types: ['claim.created', 'payment.succeeded', 'payment.refunded', 'feedback.received'],
    })
    await simulator.push('a')
    const post = async (path: string, json?: unknown, headers: Record<string, string> = traced) => {
      const answer = await call(`POST ${path}`, { json, headers })
      expect([path, answer.status < 300]).toEqual([path, true])
      return answer.json as { id: string }
    }
    const items = (quantity: number) => ({ items: [{ external_id: 'burger', quantity }] })
    await post(`/v1/webhook-endpoints/${id}/test`)
    await post('/_sim/checks/a/claims', items(0.5))
    const paid = await post('/_sim/checks/a/payments', { amount_cents: 100 })
    await post(`/_sim/payments/${paid.id}/refunds`, {})
    await post('/_sim/checks/a/feedback', { rating: 5 })
    const table = new URL(((await call('GET /_sim/tables/12')).json as { url: string }).url).pathname
    const guest = {
      ...traced,
      'x-guest-id': 'random-id-of-this-guest-01',
      traceparent: `01-${TRACE}-${SPAN}-01-more`,
    }
    await post(`${table}/claims`, { external_check_id: 'a', ...items(0.5) }, guest)
    await post(`${table}/payments`, { external_check_id: 'a', amount_cents: 100 }, guest)
    await post(`${table}/feedback`, { external_check_id: 'a', rating: 4 }, guest)
    await simulator.idle()
    expect(new Set((await receiver.received(8)).map(spanOf)).size).toBe(8)
  })

  it('continues after a restart, also in a data directory with untraced deliveries', async () => {
    const dataDir = await temporaryDirectory()
    const receiver = await openReceiver(503)
    const before = await openSimulator({ dataDir })
    await before.client.endpoints.create({ url: receiver.url, event_types })
    await before.push('untraced')
    await before.idle()
    await before.close()
    const simulator = await openSimulator({ dataDir, trace: true })
    await pushWith(simulator, 'dinner')
    await simulator.idle()
    await simulator.close()
    receiver.answer(200)
    const after = await openSimulator({ dataDir, trace: true })
    await after.client.clock.advance('1m')
    const received = await receiver.received(4)
    const spans = received.filter(({ headers }) => 'traceparent' in headers).map(spanOf)
    expect(spans).toHaveLength(2)
    expect(new Set(spans).size).toBe(2)
    const { events } = await after.client.state.get()
    expect(events.map((event) => event.traceparent)).toEqual([undefined, traceparent])
  })

  it('keeps the trace on a resend, also verbatim', async () => {
    const { simulator, receiver } = await open()
    await pushWith(simulator, 'dinner')
    await simulator.idle()
    const delivery = await newest(simulator)
    const other = { traceparent: `00-${'a'.repeat(32)}-${SPAN}-01` }
    for (const fresh of [true, false])
      await simulator.call(`POST /_sim/deliveries/${delivery?.id}/resend`, {
        json: { fresh },
        headers: other,
      })
    await simulator.idle()
    expect(new Set((await receiver.received(3)).map(spanOf)).size).toBe(3)
  })

  it('repeats the headers in an injected duplicate, which is the same attempt', async () => {
    const { simulator, receiver } = await open()
    await simulator.client.faults.set({ faults: [{ on: 'deliveries', duplicate: 1 }] })
    await pushWith(simulator, 'dinner')
    await simulator.idle()
    const [first, second] = await receiver.received(2)
    expect(spanOf(second)).toBe(spanOf(first))
  })

  it.each([
    { traceparent: 'invalid' },
    { traceparent: `00-${'0'.repeat(32)}-${SPAN}-01` },
    { tracestate },
    {},
  ] as Record<string, string>[])('accepts a push with %j, and sends no trace context', async (headers) => {
    const { simulator, receiver } = await open()
    expect((await pushWith(simulator, 'dinner', headers)).status).toBe(201)
    const [received] = await receiver.received(1)
    expect(Object.keys(received?.headers ?? {})).not.toContain('traceparent')
    expect(Object.keys(received?.headers ?? {})).not.toContain('tracestate')
    const [request] = (await simulator.client.requests.list({ limit: 1 })).data
    expect(request).not.toHaveProperty('trace_id')
  })

  it('drops only the tracestate when it is longer than 512 characters', async () => {
    const { simulator, receiver } = await open()
    await pushWith(simulator, 'dinner', {
      traceparent,
      tracestate: `a=${'v'.repeat(256)},b=${'v'.repeat(256)}`,
    })
    const [received] = await receiver.received(1)
    expect(received?.headers.traceparent).toContain(TRACE)
    expect(received?.headers).not.toHaveProperty('tracestate')
  })

  it('takes span ids from the seed', async () => {
    const sent: unknown[] = []
    for (let run = 0; run < 2; run++) {
      const { simulator, receiver } = await open({ seed: 7 })
      await pushWith(simulator, 'dinner')
      await simulator.idle()
      sent.push((await receiver.received(1))[0]?.headers.traceparent)
    }
    expect(sent[0]).toBe(sent[1])
  })

  it('stores the trace in states and bundles, and a replay shows it', async () => {
    const { simulator } = await open()
    await pushWith(simulator, 'dinner')
    await simulator.idle()
    const state = await simulator.client.state.get()
    await simulator.client.state.put(JSON.stringify(state))
    expect((await simulator.client.events.list()).data).toMatchObject([traced])
    const wrong = state.events.map((event) => ({ ...event, tracestate: 'a=1\r\nx: y' }))
    const refused = await simulator.call('PUT /_sim/state', { json: { ...state, events: wrong } })
    expect([refused.status, refused.text]).toEqual([
      422,
      expect.stringContaining('must be a tracestate of at most 512 characters'),
    ])
    await pushWith(simulator, 'second')
    const bundle = bundleOf((await simulator.call('GET /_sim/bundle')).json)
    const replay = await startReplay(bundle, { port: 0 })
    try {
      const { json } = await callAt(replay.url, 'GET /_sim/requests?kind=push&limit=1', {
        key: replay.apiKey,
      })
      expect(json).toMatchObject({ data: [{ trace_id: TRACE }] })
    } finally {
      await replay.close()
    }
  })
})

describe('without --trace', () => {
  it('reads, stores and sends nothing of a trace, also not one that an earlier run stored', async () => {
    const dataDir = await temporaryDirectory()
    const { simulator: earlier, receiver } = await open({ dataDir })
    receiver.answer(503)
    await pushWith(earlier, 'earlier')
    await earlier.idle()
    await earlier.close()
    const simulator = await openSimulator({ dataDir })
    await pushWith(simulator, 'dinner')
    await simulator.idle()
    await simulator.client.clock.advance('1m')
    const received = (await receiver.received(4)).slice(1)
    for (const { rawHeaders } of received)
      expect(rawHeaders.filter((_, index) => index % 2 === 0)).toEqual([
        'host',
        'connection',
        'Content-Type',
        'User-Agent',
        'X-Service-Signature',
        'content-length',
      ])
    const [request] = (await simulator.client.requests.list({ limit: 1 })).data
    expect(request).not.toHaveProperty('trace_id')
    const { events, deliveries } = await simulator.client.state.get()
    expect(JSON.stringify(events.at(-1)) + JSON.stringify(deliveries.at(-1))).not.toContain('trace')
    await simulator.push('again', { totals: totals(1) })
  })
})
