import { once } from 'node:events'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { describe, expect, it } from 'vitest'
import type { Delivery } from '../../../src/model/delivery.ts'
import type { State, StateReport } from '../../../src/model/simulator/state.ts'
import { stateText } from '../../../src/model/simulator/record-lines.ts'
import { createManualClock } from '../../support/manual-clock.ts'
import {
  check,
  errorOf,
  openReceiver,
  openSimulator,
  openStream,
  rawHeaders,
  temporaryDirectory,
} from '../../support/simulator.ts'

const startAt = new Date('2026-11-22T00:00:00.000Z')
const minute = 60_000

/** A simulator with a frozen clock at `startAt`, a pushed check and one failed attempt. */
async function openFailing(options = {}) {
  const simulator = await openSimulator({ startAt, ...options })
  const receiver = await openReceiver(500)
  await simulator.client.clock.freeze(true)
  const event_types = ['check.created' as const]
  const endpoint = await simulator.client.endpoints.create({ url: receiver.url, event_types })
  await simulator.push('dinner')
  await simulator.idle()
  return { ...simulator, receiver, endpoint }
}

const put = (simulator: { call: Awaited<ReturnType<typeof openSimulator>>['call'] }, json: unknown) =>
  simulator.call('PUT /_sim/state', { json })

/** True when this Node.js can serialise a JSON text again, however deeply it is nested. */
function isWritable(json: string): boolean {
  const value: unknown = JSON.parse(json)
  try {
    JSON.stringify(value)
    return true
  } catch {
    return false
  }
}

/** The text of a state with its first check on several lines. */
function edited(text: string): string {
  return text.replace(
    /^ {4}(\{"id":"chk_.*\})(,?)$/m,
    (_line, record: string, comma: string) => `${JSON.stringify(JSON.parse(record), null, 2)}${comma}`,
  )
}

describe('GET /_sim/state', () => {
  it('contains everything, secrets and the clock included, but no key', async () => {
    const simulator = await openFailing()
    const { text, json } = await simulator.call('GET /_sim/state')
    const state = json as State
    expect(state.clock.frozen).toBe(true)
    expect(state).toMatchObject({
      format: 2,
      locations: [{}, {}],
      checks: [{ external_id: 'dinner' }],
      endpoints: [{ id: simulator.endpoint.id, signing_secret: simulator.endpoint.signing_secret }],
      events: [{ type: 'check.created' }],
      deliveries: [{ status: 'pending', attempts: [{ number: 1 }] }],
    })
    expect(Object.keys(state)).not.toContain('keys')
    expect(text).not.toContain(simulator.apiKey)
  })

  it('and the other methods need the scope simulate', async () => {
    const simulator = await openSimulator()
    const key = await simulator.key(['read', 'write'])
    for (const route of ['GET /_sim/state', 'PUT /_sim/state', 'POST /_sim/reset'])
      expect(errorOf(await simulator.call(route, { key })).code).toBe('insufficient_scope')
  })

  it('is missing for a clock that the caller provides', async () => {
    const simulator = await openSimulator({ clock: createManualClock() })
    for (const route of ['GET /_sim/state', 'POST /_sim/reset'])
      expect((await simulator.call(route)).status).toBe(404)
  })
})

describe('PUT /_sim/state', () => {
  it('restores every byte of the saved state, clock included', async () => {
    const simulator = await openFailing()
    const before = await simulator.client.state.get()
    await simulator.client.clock.advance('3h')
    await simulator.client.clock.freeze(false)
    await simulator.push('lunch')
    const { json } = await put(simulator, before)
    expect(json as StateReport).toMatchObject({
      clock: before.clock,
      records: {
        locations: 2,
        checks: 1,
        claims: 0,
        payments: 0,
        feedback: 0,
        endpoints: 1,
        events: 1,
        deliveries: 1,
      },
      pending: 1,
    })
    expect(await simulator.client.state.get()).toEqual(before)
  })

  it.each<[what: string, options: object, url: string, message: string]>([
    ['link-local address', {}, 'https://169.254.169.254/latest', 'a link-local address'],
    ['plain http: URL', {}, 'http://127.0.0.1:9/', '--allow-http-loopback'],
    ['private address', { denyPrivate: true }, 'https://10.0.0.1/', '--deny-private'],
  ])('refuses endpoints that registration refuses: %s', async (_what, options, url, message) => {
    const simulator = await openFailing()
    const saved = await simulator.client.state.get()
    const other = await openSimulator(options)
    const before = await other.client.state.get()
    const [endpoint] = saved.endpoints
    const good = { ...endpoint, url: 'https://shop.example/' }
    const otherId = good.id?.replace(/.$/, (last) => (last === '0' ? '1' : '0'))
    const endpoints = [good, { ...good, id: otherId, url }]
    const answer = await put(other, { ...saved, endpoints })
    expect(answer.status).toBe(422)
    expect(errorOf(answer).issues).toEqual([
      { path: 'endpoints[1].url', message: expect.stringContaining(message) as string },
    ])
    expect((await other.client.state.get()).endpoints).toEqual(before.endpoints)
  })

  it('refuses an endpoint that is this service itself', async () => {
    const saved = await (await openFailing()).client.state.get()
    const simulator = await openSimulator()
    const url = `https://localhost:${simulator.port}/v1`
    const answer = await put(simulator, { ...saved, endpoints: [{ ...saved.endpoints[0], url }] })
    expect(errorOf(answer).issues).toMatchObject([{ path: 'endpoints[0].url' }])
  })

  it('stores the URLs of its endpoints as registration does', async () => {
    const simulator = await openFailing()
    const saved = await simulator.client.state.get()
    await put(simulator, {
      ...saved,
      endpoints: [{ ...saved.endpoints[0], url: 'HTTPS://Shop.Example:443' }],
    })
    expect((await simulator.client.state.get()).endpoints).toMatchObject([{ url: 'https://shop.example/' }])
  })

  it('accepts a state without payments and feedback', async () => {
    const simulator = await openFailing()
    const { payments: _payments, feedback: _feedback, ...before } = await simulator.client.state.get()
    const { json } = await put(simulator, { ...before, format: 1 })
    expect(json as StateReport).toMatchObject({ records: { checks: 1, payments: 0, feedback: 0 } })
  })

  it('accepts a state of format 1, and gives its endpoints the first location', async () => {
    const simulator = await openFailing()
    const now = await simulator.client.state.get()
    const endpoints = now.endpoints.map(({ location_id: _location, ...endpoint }) => endpoint)
    const first = now.locations.map(({ id }) => id).sort()[0]
    const reversed = now.locations.toReversed()
    expect((await put(simulator, { ...now, format: 1, endpoints, locations: reversed })).status).toBe(200)
    const [endpoint] = (await simulator.client.state.get()).endpoints
    expect(endpoint).toMatchObject({ id: simulator.endpoint.id, location_id: first })
  })

  it('refuses an endpoint of an unknown location', async () => {
    const simulator = await openFailing()
    const { endpoints, ...state } = await simulator.client.state.get()
    const strange = endpoints.map((one) => ({ ...one, location_id: 'loc_01AAAAAAAAAAAAAAAAAAAAAAAA' }))
    const answer = await put(simulator, { ...state, endpoints: strange })
    expect(errorOf(answer).issues).toMatchObject([{ path: 'endpoints[0].location_id' }])
  })

  it('continues a running clock from the saved time', async () => {
    const simulator = await openSimulator({ startAt })
    const before = await simulator.client.state.get()
    await simulator.client.clock.advance('3h')
    await put(simulator, before)
    const { now, frozen } = await simulator.client.clock.show()
    expect(frozen).toBe(false)
    expect(now >= before.clock.now).toBe(true)
    expect(Date.parse(now) - Date.parse(before.clock.now)).toBeLessThan(180 * minute)
  })

  it('lets another service finish a retry schedule', async () => {
    const saved = await (await openFailing()).client.state.get()
    const simulator = await openSimulator()
    await put(simulator, saved)
    await simulator.push('later')
    const { attempted } = await simulator.client.clock.advance('35h')
    const first = Date.parse(saved.deliveries[0]?.attempts[0]?.started_at ?? '')
    const [{ id }] = saved.deliveries as [Delivery]
    const its = attempted.filter(({ delivery_id }) => delivery_id === id)
    expect(its.map(({ attempt, at }) => [attempt, (Date.parse(at) - first) / minute])).toEqual([
      [2, 1],
      [3, 6],
      [4, 36],
      [5, 156],
      [6, 636],
      [7, 2076],
    ])
  })

  it('sorts records created in the same millisecond after those of the state', async () => {
    const saved = await (await openFailing()).client.state.get()
    for (let round = 0; round < 5; round++) {
      const simulator = await openSimulator()
      await put(simulator, saved)
      await simulator.push('newer')
      const { data } = await simulator.client.checks.list()
      expect(data.map(({ external_id }) => external_id)).toEqual(['newer', 'dinner'])
    }
  })

  it('keeps the keys, moved to the location of the same name, or to the first', async () => {
    const saved = await (await openFailing()).client.state.get()
    const simulator = await openSimulator()
    const [second, first] = (await simulator.client.locations.list()).data
    const keys = await Promise.all([first, second].map((at) => simulator.key(['read', 'write'], at?.id)))
    await put(simulator, saved)
    const seen = await Promise.all(keys.map((key) => simulator.call('GET /v1/checks', { key })))
    expect(seen.map(({ json }) => (json as { data: object[] }).data.length)).toEqual([1, 0])
  })

  it('aborts an attempt in flight: the next one is that of the state', async () => {
    const simulator = await openFailing()
    const saved = await simulator.client.state.get()
    simulator.receiver.answer('hang')
    const pinged = simulator.client.endpoints.ping(simulator.endpoint.id).catch((error: unknown) => error)
    await simulator.receiver.received(2)
    await put(simulator, saved)
    expect(await pinged).toMatchObject({ status: 404, code: 'not_found' })
    expect(await simulator.client.state.get()).toEqual(saved)
    simulator.receiver.answer(200)
    const { attempted } = await simulator.client.clock.advance('1m')
    expect(attempted).toMatchObject([{ attempt: 2, outcome: 'succeeded' }])
  })

  it('ends a move of the clock in progress', async () => {
    const simulator = await openFailing()
    const saved = await simulator.client.state.get()
    simulator.receiver.answer('hang')
    const move = simulator.client.clock.advance('35h')
    const refused = expect(move).rejects.toMatchObject({ status: 409, code: 'state_replaced' })
    await simulator.receiver.received(2)
    await put(simulator, saved)
    await refused
    expect(await simulator.client.state.get()).toEqual(saved)
  })

  it.each<[what: string, change: (state: State) => unknown, issues: RegExp[]]>([
    [
      'of another version',
      (state) => ({ ...state, format: 3, clock: null }),
      [/^format must be 1 or 2, got 3\. Load the state with/],
    ],
    ['without a format', ({ format: _format, ...state }) => state, [/^format is required$/]],
    ['that is none', () => [], [/^body must be an object, got an empty array$/]],
    [
      'with records that are none, of every collection at once',
      (state) => ({ ...state, clock: { now: 'now' }, checks: [{}], endpoints: 7, deliveries: [null] }),
      [
        /^clock\.now must/,
        /^clock\.frozen/,
        /^checks\[0\]\.id/,
        /^endpoints must be an array/,
        /^deliveries\[0\]/,
      ],
    ],
    [
      'with fields that this version does not know',
      (state) => ({ ...state, tips: [], locations: state.locations.map((one) => ({ ...one, stars: 3 })) }),
      [/^body has unknown fields: tips$/, /^locations\[0\] has unknown fields: stars$/],
    ],
    [
      'with a check that no path can name',
      (state) => ({ ...state, checks: state.checks.map((one) => ({ ...one, external_id: 'a\u0000b' })) }),
      [/^checks\[0\]\.external_id must not have control characters$/],
    ],
    [
      'without a location',
      (state) => ({ ...state, locations: [], checks: [] }),
      [/^locations must have at least 1/],
    ],
    [
      'with records twice',
      (state) => ({ ...state, checks: [...state.checks, ...state.checks] }),
      [
        /^checks\[1\]\.id appears twice in this state$/,
        /^checks\[1\]\.external_id appears twice in this state$/,
      ],
    ],
    [
      'whose records point to nothing',
      (state) => ({ ...state, events: [], locations: state.locations.slice(1) }),
      [
        /^checks\[0\]\.location_id must refer to a record of this state/,
        /^deliveries\[0\]\.event_id must refer/,
      ],
    ],
    [
      'with payments that are not those of its checks',
      (state) => ({
        ...state,
        checks: state.checks.map((one) => ({ ...one, paid_cents: 5, balance_cents: 0 })),
      }),
      [
        /^checks\[0\]\.paid_cents must be the sum of its payments minus refunds, 0$/,
        /^checks\[0\]\.balance_cents must be/,
      ],
    ],
    [
      'whose deliveries and events contradict themselves',
      (state) => ({
        ...state,
        events: state.events.map((event) => ({ ...event, body: '{}' })),
        deliveries: state.deliveries.map((one) => ({ ...one, status: 'dead', event_type: 'ping' })),
      }),
      [/^events\[0\]\.body/, /next_attempt_at/, /dead_reason/, /event_type must be the type of its event/],
    ],
  ])('refuses a state %s, names every issue, and changes nothing', async (_what, change, issues) => {
    const simulator = await openFailing()
    const before = await simulator.client.state.get()
    const answer = await put(simulator, change(before))
    expect(answer.status).toBe(422)
    const found = (errorOf(answer).issues as { path: string; message: string }[]).map(
      ({ path, message }) => `${path} ${message}`,
    )
    for (const issue of issues) expect(found).toContainEqual(expect.stringMatching(issue))
    expect(await simulator.client.state.get()).toEqual(before)
  })

  it('accepts a quantity above the limit of pushes, which early versions stored', async () => {
    const { client, push } = await openSimulator({ startAt })
    await push('dinner')
    const { checks, ...state } = await client.state.get()
    const early = checks.map((one) => ({
      ...one,
      items: one.items.map((item) => ({ ...item, quantity: 2_500_000 })),
    }))
    await client.state.put({ ...state, checks: early })
    const saved = await client.state.get()
    expect(saved.checks).toEqual(early)
    await client.state.put(saved)
    const none = early.map((one) => ({ ...one, items: one.items.map((item) => ({ ...item, quantity: 0 })) }))
    await expect(client.state.put({ ...saved, checks: none })).rejects.toMatchObject({
      code: 'validation_failed',
    })
  })

  it('accepts states that exceed the body limit', async () => {
    const simulator = await openSimulator({ bodyLimit: 2000 })
    const items = Array.from({ length: 30 }, (_, index) => ({
      ...check().items[0],
      external_id: `i${index}`,
    }))
    expect(
      (await simulator.call('PUT /v1/checks/external/a', { json: check({ items: items as never }) })).status,
    ).toBe(413)
    const other = await openSimulator()
    for (const id of ['a', 'b', 'c']) await other.push(id, { items: items as never })
    const state = JSON.stringify(await other.client.state.get())
    expect(state.length).toBeGreaterThan(4000)
    expect(await simulator.client.state.put(state)).toMatchObject({ records: { checks: 3 } })
  })

  it.each([
    ['a record a line', (state: State) => [...stateText(state)].join('')],
    ['one line', (state: State) => JSON.stringify(state)],
    ['as people edit it', (state: State) => JSON.stringify(state, null, 2)],
    ['a record a line, but for one', (state: State) => edited([...stateText(state)].join(''))],
  ])('accepts JSON in any layout: %s', async (_what, layout) => {
    const simulator = await openFailing()
    const before = await simulator.client.state.get()
    await simulator.push('lunch')
    await simulator.client.state.put(layout(before))
    expect(await simulator.client.state.get()).toEqual(before)
  })

  it.each([
    ['is cut off', (text: string) => text.slice(0, -10), 'invalid_json'],
    [
      'is not UTF-8',
      (text: string) => Buffer.from(text.replace('dinner', 'd\xffnner'), 'latin1'),
      'invalid_json',
    ],
    [
      'has a record that is no JSON',
      (text: string) => text.replace('{"id":"chk', '{id:"chk'),
      'invalid_json',
    ],
    [
      'has a collection of its own',
      (text: string) => text.replace('"checks"', '"cheques"'),
      'validation_failed',
    ],
    ['has no JSON', () => '', 'invalid_json'],
  ])('refuses a text that %s, and changes nothing', async (_what, damage, code) => {
    const simulator = await openFailing()
    const before = await simulator.client.state.get()
    const put = simulator.client.state.put(damage([...stateText(before)].join('')))
    await expect(put).rejects.toMatchObject({ code })
    expect(await simulator.client.state.get()).toEqual(before)
  })

  it('refuses the body of an event that is nested too deeply to be written again', async () => {
    const simulator = await openFailing()
    const state = await simulator.client.state.get()
    const deep = '['.repeat(20_000) + ']'.repeat(20_000)
    const events = state.events.map((event) => ({
      ...event,
      body: event.body.replace('"data":', `"deep":${deep},"data":`),
    }))
    const refused = await put(simulator, { ...state, events })
    // Node.js 26 writes any depth.
    if (isWritable(deep)) {
      expect(refused.status).toBe(200)
      expect((await simulator.client.state.get()).events).toEqual(events)
      return
    }
    expect([refused.status, errorOf(refused)]).toEqual([
      422,
      expect.objectContaining({
        issues: [{ path: 'events[0].body', message: 'must have fewer levels of nesting' }],
      }),
    ])
  })

  it('is read whole by a client that half-closes its connection after its request', async () => {
    const simulator = await openFailing()
    const state = await simulator.client.state.get()
    const [sample] = state.checks
    const items = Array.from({ length: 10 }, (_, index) => ({
      ...sample?.items[0],
      external_id: `line-${index}`,
      note: 'x'.repeat(1_000),
    }))
    // 8 MB, more than the buffers of a connection hold.
    const checks = Array.from({ length: 800 }, (_, index) => ({
      ...sample,
      id: `chk_01J${String(index).padStart(23, '0')}`,
      external_id: `many-${index}`,
      items,
    })) as State['checks']
    await simulator.client.state.put({ ...state, checks })
    const socket = connect({ port: simulator.port, host: '127.0.0.1', allowHalfOpen: true })
    socket.write(`GET /_sim/state HTTP/1.1\r\n${rawHeaders(simulator)}\r\n`)
    await once(socket, 'readable')
    socket.end()
    expect((await text(socket)).includes('many-799')).toBe(true)
  })

  it('and GET stream long states, which are restored byte for byte', async () => {
    const simulator = await openFailing()
    const state = await simulator.client.state.get()
    const [sample] = state.checks
    const checks = Array.from({ length: 2_000 }, (_, index) => ({
      ...sample,
      id: `chk_01J${String(index).padStart(23, '0')}`,
      external_id: `many-${index}`,
    })) as State['checks']
    const text = [...stateText({ ...state, checks, clock: { ...state.clock, frozen: true } })].join('')
    await simulator.client.state.put(text)
    const sizes = await simulator.client.state.read(async (json) => {
      const pieces: Uint8Array[] = []
      for await (const piece of json) pieces.push(piece)
      expect(Buffer.concat(pieces).toString()).toBe(text)
      return pieces.map(({ length }) => length)
    })
    expect(sizes.length).toBeGreaterThan(2)
  })

  it('is read whole by a client that begins after a garbage collection', async () => {
    const simulator = await openFailing()
    const whole = [...stateText(await simulator.client.state.get())].join('')
    setFlagsFromString('--expose-gc')
    const collectGarbage = runInNewContext('gc') as () => void
    const read = await simulator.client.state.read(async (json) => {
      for (let round = 0; round < 3; round += 1) {
        collectGarbage()
        // Callbacks of the collection run between two turns of the event loop.
        await nextTurn()
      }
      return text(json)
    })
    expect(read).toBe(whole)
  })
})

describe('POST /_sim/reset', () => {
  it('keeps the locations and the keys, and sets the clock to its start time', async () => {
    const simulator = await openFailing()
    const { locations } = await simulator.client.state.get()
    const key = await simulator.key(['read', 'write', 'simulate'])
    await simulator.client.clock.advance('3h')
    const report = await simulator.client.state.reset()
    expect(report).toMatchObject({ clock: { frozen: false }, pending: 0 })
    expect(report.clock.now.slice(0, 16)).toBe(startAt.toISOString().slice(0, 16))
    expect((await simulator.call('GET /_sim/state', { key })).json).toMatchObject({
      locations,
      checks: [],
      claims: [],
      payments: [],
      feedback: [],
      endpoints: [],
      events: [],
      deliveries: [],
    })
    expect((await simulator.call('GET /_sim/requests')).json).toEqual({ data: [], next_cursor: null })
  })

  it('returns to real time by default, and dates and orders new records by it', async () => {
    const simulator = await openSimulator()
    await simulator.client.clock.advance('35h')
    await simulator.push('old')
    expect((await simulator.client.state.reset()).clock.offset_ms).toBe(0)
    await simulator.push('new')
    const [made] = (await simulator.client.checks.list()).data
    expect(Math.abs(Date.parse(made?.created_at ?? '') - Date.now())).toBeLessThan(60 * minute)
    const atThatTime = (await openSimulator({ startAt: new Date(Date.now() + 60 * minute) })).client
    const [location] = (await atThatTime.locations.list()).data
    // Identifiers begin with the time of their making.
    expect((made?.id ?? '').slice(4) < (location?.id ?? '').slice(4)).toBe(true)
  })

  it('discards attempts in flight, and notifies subscribers', async () => {
    const simulator = await openFailing()
    simulator.receiver.answer('hang')
    await simulator.push('lunch')
    await simulator.receiver.received(2)
    const stream = await openStream(simulator)
    await simulator.client.state.reset()
    expect(await stream.next()).toEqual({ type: 'reset', data: {} })
    await simulator.idle()
    expect(await simulator.client.state.get()).toMatchObject({ events: [], deliveries: [] })
    await simulator.push('supper')
    expect((await simulator.client.clock.advance('35h')).attempted_total).toBe(0)
  })

  it('persists after a restart', async () => {
    const dataDirectory = await temporaryDirectory()
    const first = await openFailing({ dataDirectory, startAt: undefined })
    await first.client.clock.advance('3h')
    await first.client.state.reset()
    await first.close()
    const { client, apiKey } = await openSimulator({ dataDirectory })
    expect(apiKey).toBe(first.apiKey)
    expect(await client.state.get()).toMatchObject({ checks: [], deliveries: [] })
    expect((await client.clock.show()).offset_ms).toBe(0)
  })
})

describe('a data directory with an endpoint that registration would now refuse', () => {
  it('is opened, and nothing is sent to that endpoint', async () => {
    const dataDirectory = await temporaryDirectory()
    const first = await openFailing({ dataDirectory })
    await first.close()
    const sent = first.receiver.requests.length
    const second = await openSimulator({ dataDirectory, denyPrivate: true })
    await second.push('lunch')
    await second.idle()
    const { data } = await second.client.deliveries.list()
    expect(data[0]?.attempts).toMatchObject([{ outcome: 'address_refused' }])
    expect(first.receiver.requests).toHaveLength(sent)
  })
})
