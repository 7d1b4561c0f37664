import { randomBytes } from 'node:crypto'
import { describe, expect, it, onTestFinished } from 'vitest'
import { isSoak } from '../soak/seeded.ts'
import type { Delivery } from '../../src/model/delivery.ts'
import type { State } from '../../src/model/simulator/state.ts'
import { startSimulator, type SimulatorOptions } from '../../src/simulator.ts'
import { openPostgresStore } from '../../src/store/postgres/postgres-store.ts'
import { startDatabaseProxy } from '../support/database-proxy.ts'
import { postgresPrograms, startCluster } from '../support/postgres.ts'
import { sharedStore } from '../support/shared-store.ts'
import { startRoundRobin } from '../support/round-robin.ts'
import { check, errorOf, openReceiver, openSimulator, type TestSimulator } from '../support/simulator.ts'

const startAt = new Date('2026-11-21T18:00:00.000Z')
const at = (seconds: number) => new Date(startAt.getTime() + seconds * 1000).toISOString()
const push = 'PUT /v1/checks/*'

/** Slots change hands soon. */
const deliveryTimes = { renewMs: 500, pollMs: 50 }

describe.skipIf(postgresPrograms === undefined)('instances that share a sandbox', () => {
  const shared = sharedStore()

  const instance = (options: SimulatorOptions = {}) =>
    openSimulator({ store: shared.database.url, sandbox: shared.sandbox, deliveryTimes, startAt, ...options })

  async function three(options: SimulatorOptions = {}) {
    const one = await instance(options)
    const [two, other] = await Promise.all([instance(options), instance(options)])
    return [one, two, other] as const
  }

  /** A frozen clock, and endpoints of three owners, as a rule: their ids are random. */
  async function openFrozen(endpoints = 6) {
    const all = await three()
    await all[0].client.clock.freeze(true)
    await all[0].client.clock.moveTo(at(60))
    const receiver = await openReceiver()
    const ids: string[] = []
    for (let nth = 0; nth < endpoints; nth += 1)
      ids.push((await all[0].client.endpoints.create({ url: `${receiver.url}${nth}` })).id)
    return { all, receiver, ids }
  }

  /** Every delivery but pings, oldest first. */
  const deliveriesOf = async ({ client }: TestSimulator): Promise<readonly Delivery[]> =>
    (await client.deliveries.list({ limit: 100 })).data
      .filter(({ event_type }) => event_type !== 'ping')
      .toReversed()

  const clockOf = ({ client }: TestSimulator) => client.clock.show()

  it('has metrics that add up to all slots and count batches that were decided again', async () => {
    const all = await three()
    const sum = async (name: string) => {
      const texts = await Promise.all(all.map(({ call }) => call('GET /_sim/metrics')))
      const line = new RegExp(`^${name}(?:\\{.*\\})? (\\d+)$`, 'm')
      return texts.reduce((total, { text }) => total + Number(line.exec(text)?.[1]), 0)
    }
    await expect.poll(() => sum('tabwire_slots_held')).toBe(256)
    const before = await sum('tabwire_store_conflicts_total')
    // Batches of a round may happen to follow each other, and a slow machine may refuse some.
    const conflictsAfterPushes = async () => {
      const pushes = all.flatMap((one) => Array.from({ length: 20 }, (_, nth) => one.push(`table-${nth}`)))
      for (const { status } of await Promise.all(pushes)) expect([200, 201, 503]).toContain(status)
      return sum('tabwire_store_conflicts_total')
    }
    await expect.poll(conflictsAfterPushes).toBeGreaterThan(before)
  })

  describe('the clock', () => {
    it('freezes, moves and runs on at all instances at once', async () => {
      const [one, two, other] = await three()
      await one.client.clock.freeze(true)
      await two.client.clock.moveTo(at(3600))
      const shown = await Promise.all([one, two, other].map(clockOf))
      for (const { now, frozen } of shown) expect([now, frozen]).toEqual([at(3600), true])
      await other.client.clock.freeze(false)
      for (const simulator of [one, two]) {
        const { frozen, now } = await clockOf(simulator)
        expect([frozen, now >= at(3600)]).toEqual([false, true])
      }
    })

    it.runIf(isSoak)('dates what any instance commits after a move', async () => {
      const [one, two, other] = await three()
      await one.client.clock.freeze(true)
      for (const [seconds, mover, pusher] of [
        [100, one, two],
        [200, two, other],
        [300, other, one],
      ] as const) {
        await mover.client.clock.moveTo(at(seconds))
        const { json } = await pusher.push(`check-${seconds}`)
        expect(json).toMatchObject({ created_at: at(seconds) })
      }
    })

    it('attempts all deliveries that a move makes due at any instance, and reports them', async () => {
      const { all, receiver } = await openFrozen()
      receiver.answer(500)
      await all[1].push('a')
      // The first attempts are made before the move.
      await Promise.all(all.map((simulator) => simulator.idle()))
      const move = await all[2].client.clock.advance('36h')
      const deliveries = await deliveriesOf(all[0])
      expect(deliveries).toHaveLength(6)
      const seconds = [60, 120, 420, 2_220, 9_420, 38_220, 124_620]
      for (const { status, attempts } of deliveries) {
        expect([status, attempts.length]).toEqual(['dead', 7])
        const times = attempts.map(({ started_at }) => (Date.parse(started_at) - startAt.getTime()) / 1000)
        expect(times).toEqual(seconds.slice(0, 7))
      }
      expect(move.attempted_total).toBe(36)
      expect(move.attempted).toHaveLength(36)
      expect(move.now).toBe(at(60 + 36 * 3600))
      expect(receiver.requests).toHaveLength(42)
      expect(new Set((await Promise.all(all.map(clockOf))).map(({ now }) => now)).size).toBe(1)
    })

    it('makes one move at a time, and shows the running one everywhere', async () => {
      const { all } = await openFrozen(0)
      const [one, two, other] = all
      let release = () => {}
      const receiver = await openReceiver((response) => {
        release = () => response.writeHead(204).end()
      })
      await one.client.endpoints.create({ url: receiver.url })
      await one.push('a')
      await receiver.received(1)
      const [delivery] = await deliveriesOf(one)
      const first = two.client.clock.advance('1h')
      const shows = async (simulator: TestSimulator) => (await clockOf(simulator)).moving
      await expect.poll(() => shows(other)).not.toBeNull()
      for (const simulator of all)
        expect(await shows(simulator)).toEqual({ to: at(3660), waiting_for: [delivery?.id] })
      const second = other.client.clock.advance('1h')
      // Longer than a move lasts that its instance renews no longer.
      const store = await openPostgresStore({ url: shared.database.url, sandbox: shared.sandbox })
      const renewals = () => (store.values.get('clock') as { renewals: number }).renewals
      await expect.poll(renewals).toBeGreaterThanOrEqual(8)
      await store.close()
      expect((await clockOf(one)).now).toBe(at(60))
      expect((await shows(one))?.to).toBe(at(3660))
      release()
      expect((await first).now).toBe(at(3660))
      expect((await second).now).toBe(at(7260))
      for (const simulator of all) expect(await shows(simulator)).toBeNull()
    }, 60_000)

    it.runIf(isSoak)(
      'continues when the instance that moved it was killed',
      async () => {
        const [one, two] = await three()
        // An instance that was killed during a move.
        const store = await openPostgresStore({ url: shared.database.url, sandbox: shared.sandbox })
        await one.client.clock.freeze(true)
        const { now } = await one.client.clock.moveTo(at(60))
        await one.client.clock.freeze(false)
        await store.values.update('clock', (value) => ({
          value: {
            ...(value as object),
            held: true,
            stands_at: Date.parse(now) + 60_000,
            turn: { instance: 'killed', to: Date.parse(now) + 3_600_000 },
            renewals: 5,
          },
          reply: undefined,
        }))
        expect((await clockOf(two)).moving).toMatchObject({ to: at(3660) })
        const waiting = two.client.clock.advance('1s')
        await expect.poll(async () => (await clockOf(one)).moving?.to).not.toBe(at(3660))
        expect((await waiting).now >= at(121)).toBe(true)
        expect(await clockOf(one)).toMatchObject({ moving: null, frozen: false })
        await store.close()
      },
      30_000,
    )

    it.runIf(isSoak)('refuses a move with 503 when another instance has ended it', async () => {
      const { all } = await openFrozen(0)
      const [one, two] = all
      let release = () => {}
      const receiver = await openReceiver((response) => {
        release = () => response.writeHead(204).end()
      })
      await one.client.endpoints.create({ url: receiver.url })
      await one.push('a')
      await receiver.received(1)
      const move = one.call('POST /_sim/clock', { json: { advance: '1h' } })
      await expect.poll(async () => (await clockOf(two)).moving).not.toBeNull()
      const store = await openPostgresStore({ url: shared.database.url, sandbox: shared.sandbox })
      await store.values.update('clock', (value) => ({
        value: { ...(value as object), turn: null, held: false },
        reply: undefined,
      }))
      expect(await move).toMatchObject({
        status: 503,
        json: {
          error: {
            code: 'storage_unavailable',
            message: `This instance could not renew its move of the clock, so another instance ended the move. The clock stopped at ${at(60)}. Advance it again.`,
          },
        },
      })
      expect(await clockOf(two)).toMatchObject({ now: at(60), moving: null })
      release()
      await store.close()
    })

    it.runIf(isSoak)('is not changed by the start of an instance', async () => {
      const one = await instance()
      await one.client.clock.freeze(true)
      await one.client.clock.moveTo(at(500))
      const notices: string[] = []
      const two = await instance({ startAt: new Date('2030-01-01'), onNotice: (text) => notices.push(text) })
      expect(await clockOf(two)).toMatchObject({ now: at(500), frozen: true })
      expect(notices).toEqual([
        `The clock of the sandbox shows ${at(500)}. --clock has no effect, because it sets the clock of a new sandbox only.`,
      ])
    })
  })

  describe('faults', () => {
    it('are the same everywhere, and a limit holds over all instances', async () => {
      const all = await three()
      const faults = [{ on: 'api' as const, error_rate: 1, times: 10, paths: [push] }]
      await all[0].client.faults.set({ seed: 3, faults })
      const answers = await Promise.all(
        Array.from({ length: 30 }, (_, nth) => (all[nth % 3] ?? all[0]).push(`check-${nth}`)),
      )
      const refused = answers.filter(({ status }) => status === 503)
      expect(refused.filter((answer) => errorOf(answer).code === 'fault_injected')).toHaveLength(10)
      for (const { client } of all)
        expect(await client.faults.show()).toMatchObject({
          seed: 3,
          faults: [{ left: 0, times: 10, happened: { error: 10 } }],
        })
      await all[1].client.faults.clear()
      for (const { client } of all) expect((await client.faults.show()).faults).toEqual([])
    })

    it.runIf(isSoak)(
      'apply to the next request at another instance, and not after they are cleared',
      async () => {
        const [one, two] = await three()
        await one.client.faults.set({ faults: [{ on: 'api', error_rate: 1, paths: [push] }] })
        expect((await two.push('a')).status).toBe(503)
        await one.client.faults.clear()
        expect((await two.push('a')).status).toBe(201)
      },
    )

    it.runIf(isSoak)('on deliveries keep their limit over all instances', async () => {
      const { all } = await openFrozen(6)
      await all[0].client.faults.set({ faults: [{ on: 'deliveries', drop: 1, times: 4 }] })
      await Promise.all(all.map((simulator, nth) => simulator.push(`check-${nth}`)))
      await all[1].client.clock.advance('1s')
      const attempts = (await deliveriesOf(all[0])).flatMap((delivery) => delivery.attempts)
      expect(attempts.filter(({ outcome }) => outcome === 'dropped')).toHaveLength(4)
      for (const { client } of all)
        expect((await client.faults.show()).faults).toMatchObject([{ left: 0, happened: { drop: 4 } }])
    })

    it.runIf(isSoak)('write nothing for requests and attempts that match no fault', async () => {
      const { all } = await openFrozen(1)
      const store = await openPostgresStore({ url: shared.database.url, sandbox: shared.sandbox })
      await all[0].client.faults.set({
        faults: [
          { on: 'api', error_rate: 1, paths: ['GET /v1/locations'] },
          { on: 'deliveries', drop: 1, event_types: ['check.closed'] },
        ],
      })
      await store.bringUpToDate()
      const written: string[] = []
      store.values.onChange((key) => written.push(key))
      await all[1].push('a')
      await all[0].idle()
      await all[0].client.faults.show()
      await store.bringUpToDate()
      expect(written).not.toContain('faults')
      await all[0].call('GET /v1/locations')
      await store.bringUpToDate()
      expect(written).toContain('faults')
      await store.close()
    })

    it.runIf(isSoak)('release what they hold, whichever instance clears them', async () => {
      const { all } = await openFrozen(6)
      await all[0].client.faults.set({ faults: [{ on: 'deliveries', delay: 1, delay_ms: 3_600_000 }] })
      await all[1].push('a')
      await all[2].idle()
      const held = await deliveriesOf(all[0])
      expect(held.map(({ held: hold, attempts }) => [hold?.faults, attempts.length])).toEqual(
        Array.from({ length: 6 }, () => [['delay'], 0]),
      )
      await all[2].client.faults.clear()
      await all[0].idle()
      for (const { status } of await deliveriesOf(all[0])) expect(status).toBe('delivered')
    })

    it.runIf(isSoak)(
      'release a delivery that another instance than its holder overtakes',
      async () => {
        const { all } = await openFrozen(6)
        const [one, two, other] = all
        await one.client.faults.set({ faults: [{ on: 'deliveries', reorder: 1, reorder_ms: 3_600_000 }] })
        await one.push('a')
        await one.idle()
        const held = await deliveriesOf(one)
        for (const delivery of held)
          expect(delivery).toMatchObject({ held: { faults: ['reorder'] }, attempts: [] })
        // The instances that held deliveries leave their endpoints to the last one.
        await one.close()
        await two.close()
        await other.client.clock.advance('1s')
        await other.push('b')
        const statuses = async () => (await deliveriesOf(other)).map(({ status }) => status)
        await expect.poll(statuses).toEqual(Array(12).fill('delivered'))
      },
      30_000,
    )
  })

  describe('keys', () => {
    it('work everywhere once they are made, and nowhere once they are revoked', async () => {
      const all = await three()
      const { id, api_key: key } = await all[0].client.keys.create({ scopes: ['read', 'simulate'] })
      for (const { call } of all) expect((await call('GET /_sim/requests', { key })).status).toBe(200)
      const headers = { authorization: `Bearer ${key}` }
      const stream = await fetch(`${all[2].url}/_sim/stream`, { headers })
      await all[1].client.keys.revoke(id)
      expect(await stream.text()).toMatch(/^: listening\n/)
      for (const { call } of all)
        await expect.poll(async () => (await call('GET /_sim/requests', { key })).status).toBe(401)
    })

    it('are replaced once when the first key was revoked, also by instances that start together', async () => {
      const first = await instance()
      for (const { id } of (await first.client.keys.list()).data) await first.client.keys.revoke(id)
      const fixed = await instance({ apiKey: 'of-the-ci' })
      const together = await Promise.all([instance(), instance()])
      const all = [...together, await instance()]
      const [made = '', ...others] = new Set(all.map(({ apiKey }) => apiKey))
      expect(others).toEqual([])
      expect([first.apiKey, fixed.apiKey]).not.toContain(made)
      const { data: keys } = await fixed.client.keys.list()
      // The new one, and that of --api-key.
      expect(keys.filter(({ revoked_at }) => revoked_at === null)).toHaveLength(2)
    })

    it('are refused with 503 by an instance that is cut off from the database', async () => {
      const proxy = await startDatabaseProxy(shared.database)
      onTestFinished(() => proxy.close())
      const one = await instance()
      const bugs: unknown[] = []
      const cutOff = await startSimulator({
        port: false,
        store: proxy.url,
        sandbox: shared.sandbox,
        onError: (error) => bugs.push(error),
      })
      const { id, api_key: key } = await one.client.keys.create({ scopes: ['simulate'] })
      const call = async () =>
        (await cutOff.fetch('/_sim/requests', { headers: { authorization: `Bearer ${key}` } })).status
      // The first call learns of the new key, the second one caches it.
      for (let nth = 0; nth < 2; nth += 1) expect(await call()).toBe(200)
      proxy.stall()
      await one.client.keys.revoke(id)
      await expect.poll(call).toBe(503)
      proxy.resume()
      await expect.poll(call).toBe(401)
      await cutOff.close()
    }, 30_000)
  })

  describe('sessions', () => {
    const page = { 'sec-fetch-site': 'same-origin' }

    it.runIf(isSoak)('stay signed in behind a round-robin proxy', async () => {
      const all = await three()
      const proxy = await startRoundRobin(all.map(({ url }) => url))
      onTestFinished(() => proxy.close())
      const fetchPage = (path: string, method: string, headers: Record<string, string>, json?: object) =>
        fetch(proxy.url + path, {
          method,
          headers: { ...page, ...(json && { 'content-type': 'application/json' }), ...headers },
          ...(json && { body: JSON.stringify(json) }),
        })
      const link = await fetchPage('/_sim/inspector-links', 'POST', {
        authorization: `Bearer ${all[0].apiKey}`,
      })
      const { code } = (await link.json()) as { code: string }
      const begun = await fetchPage('/_sim/session', 'POST', {}, { code })
      expect(begun.status).toBe(201)
      const { page_secret: secret } = (await begun.json()) as { page_secret: string }
      const [cookie = ''] = begun.headers.get('set-cookie')?.split(';') ?? []
      const session = { cookie, 'x-tabwire-page': secret }
      for (let nth = 0; nth < 6; nth += 1)
        expect((await fetchPage('/_sim/events', 'GET', session)).status).toBe(200)
      expect((await fetchPage('/_sim/session', 'POST', {}, { code })).status).toBe(401)
      expect((await fetchPage('/_sim/session', 'DELETE', session)).status).toBe(204)
      for (let nth = 0; nth < 3; nth += 1)
        expect((await fetchPage('/_sim/events', 'GET', session)).status).toBe(401)
    })

    it.runIf(isSoak)('start at any instance from the link of another, which stores no secret', async () => {
      const [one, two] = await three()
      const code = one.inspectorLink().split('link=')[1] ?? ''
      const session = { key: null, json: { code }, headers: page }
      await expect.poll(async () => (await two.call('POST /_sim/session', session)).status).toBe(201)
      const store = await openPostgresStore({ url: shared.database.url, sandbox: shared.sandbox })
      const kept = ['inspector_codes', 'inspector_sessions'].map((key) => store.values.get(key))
      expect(kept).toMatchObject([[], [{ secret: expect.stringMatching(/^[\w-]{43}$/) as string }]])
      expect(JSON.stringify(kept)).not.toContain(code)
      await store.close()
    })
  })

  describe('a rate limit', () => {
    it('counts the requests of a key at all instances together', async () => {
      const all = await three({ rateLimit: { requests: 7, seconds: 3600 } })
      const answers = await Promise.all(
        Array.from({ length: 20 }, (_, nth) => (all[nth % 3] ?? all[0]).call('GET /v1/checks')),
      )
      expect(answers.filter(({ status }) => status === 200)).toHaveLength(7)
      const refused = answers.filter(({ status }) => status === 429)
      expect(refused).toHaveLength(13)
      for (const answer of refused) expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(3500)
      const key = await all[0].key(['read'])
      expect((await all[1].call('GET /v1/checks', { key })).status).toBe(200)
    })

    it.runIf(isSoak)(
      'refuses requests while the database is away, and continues with the same window',
      async () => {
        const cluster = await startCluster()
        onTestFinished(() => cluster.stop())
        const one = await openSimulator({
          store: cluster.url,
          rateLimit: { requests: 2, seconds: 3600 },
          onError: () => undefined,
        })
        expect((await one.call('GET /v1/checks')).status).toBe(200)
        await cluster.kill()
        const away = await one.call('GET /v1/checks')
        expect([away.status, away.headers.get('retry-after')]).toEqual([503, '1'])
        await cluster.restart()
        const statuses: number[] = []
        await expect
          .poll(async () => statuses[statuses.push((await one.call('GET /v1/checks')).status) - 1])
          .toBe(429)
        expect(statuses.filter((status) => status === 200).length).toBeLessThanOrEqual(2)
        expect(statuses.filter((status) => ![200, 429, 503].includes(status))).toEqual([])
      },
      60_000,
    )
  })

  describe('the state', () => {
    it('of one instance replaces that of all: records, clock and identifiers', async () => {
      const { all } = await openFrozen(1)
      const [one, two, other] = all
      await one.client.clock.moveTo(at(7200))
      await one.push('kept')
      await one.idle()
      const { json: state } = await two.call('GET /_sim/state')
      const ids = (state as State).checks.map(({ id }) => id)
      await one.push('gone')
      await one.client.clock.moveTo(at(9000))
      expect((await other.call('PUT /_sim/state', { json: state })).status).toBe(200)
      for (const simulator of all) {
        expect(await clockOf(simulator)).toMatchObject({ now: at(7200), frozen: true })
        expect((await simulator.call('GET /v1/checks/external/gone')).status).toBe(404)
        const { json } = await simulator.call('PUT /v1/checks/external/new', { json: check() })
        const { id } = json as { id: string }
        for (const before of ids) expect(id > before).toBe(true)
        await simulator.call('PUT /_sim/state', { json: state })
      }
    })

    it.runIf(isSoak)(
      'makes identifiers sort after loaded ones of a later time at every instance, and at later ones',
      async () => {
        const { all } = await openFrozen(0)
        const [one, two, other] = all
        await one.client.clock.moveTo(at(9000))
        await one.push('later')
        const { json } = await one.call('GET /_sim/state')
        const state = json as State
        const id = state.checks[0]?.id ?? ''
        const early = { ...state, clock: { ...state.clock, now: at(100) } }
        expect((await two.call('PUT /_sim/state', { json: early })).status).toBe(200)
        const fresh = await instance()
        for (const simulator of [one, other, two, fresh]) {
          const answer = await simulator.push(`from ${simulator.port}`)
          expect((answer.json as { id: string }).id > id).toBe(true)
        }
      },
    )

    it.runIf(isSoak)('after a reset has no faults, and a running clock at its start time', async () => {
      const { all } = await openFrozen(1)
      const [one, two] = all
      const other = await instance({ startAt: new Date('2030-01-01') })
      await one.client.faults.set({ seed: 5, faults: [{ on: 'api', error_rate: 1, paths: [push] }] })
      expect((await two.push('a')).status).toBe(503)
      expect((await other.call('POST /_sim/reset')).status).toBe(200)
      for (const simulator of [...all, other]) {
        expect(await simulator.client.faults.show()).toEqual({ seed: 1, faults: [] })
        expect((await simulator.push(`b-${simulator.port}`)).status).toBe(201)
        const { now, frozen } = await clockOf(simulator)
        expect([frozen, now >= at(0), now < at(60)]).toEqual([false, true, true])
      }
    })

    it.runIf(isSoak)('ends the moves of all instances with state_replaced', async () => {
      const { all } = await openFrozen(0)
      const [one, two, other] = all
      const receiver = await openReceiver(() => undefined)
      await one.client.endpoints.create({ url: receiver.url })
      await one.push('a')
      await receiver.received(1)
      const first = one.call('POST /_sim/clock', { json: { advance: '1h' } })
      await expect.poll(async () => (await clockOf(two)).moving).not.toBeNull()
      const second = two.call('POST /_sim/clock', { json: { advance: '1h' } })
      const { json: state } = await other.call('GET /_sim/state')
      expect((await other.call('PUT /_sim/state', { json: state })).status).toBe(200)
      for (const answer of await Promise.all([first, second]))
        expect([answer.status, errorOf(answer).code]).toEqual([409, 'state_replaced'])
      for (const simulator of all)
        expect(await clockOf(simulator)).toMatchObject({ now: at(60), moving: null })
    })
  })

  it('start together with one set of locations, one key and one secret of table addresses', async () => {
    const all = await Promise.all([instance(), instance(), instance()])
    expect(new Set(all.map(({ apiKey }) => apiKey)).size).toBe(1)
    const seen = await Promise.all(
      all.map(async ({ client, call }) => {
        const { url } = (await call('GET /_sim/tables/1')).json as { url: string }
        return {
          table: new URL(url).pathname,
          locations: (await client.locations.list()).data,
          clock: (await client.clock.show()).frozen,
        }
      }),
    )
    expect(seen[0]?.locations.length).toBeGreaterThan(0)
    expect(seen).toEqual([seen[0], seen[0], seen[0]])
  })

  describe('settings', () => {
    it.runIf(isSoak)('that differ from those of the previous instance are named at the start', async () => {
      const notices: string[] = []
      const onNotice = (text: string) => notices.push(text)
      await instance({ disableAfter: 5, onNotice })
      await instance({ disableAfter: 5, onNotice })
      const about = () => notices.filter((text) => text.includes('same value'))
      expect(about()).toEqual([])
      const storeKey = randomBytes(32).toString('base64')
      await instance({ disableAfter: 20, serviceName: 'Other', storeKey, onNotice })
      expect(about()).toEqual([
        '--service-name is Other at this instance, and Service at the instance of the sandbox that started before. Start all instances with the same value.',
        '--disable-after is 20 at this instance, and 5 at the instance of the sandbox that started before. Start all instances with the same value.',
        'TABWIRE_STORE_KEY is set at this instance, and not set at the instance of the sandbox that started before. Start all instances with the same value.',
      ])
    })
  })
})
