import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { isSoak } from '../../soak/seeded.ts'
import { openPostgresStore, type PostgresStore } from '../../../src/store/postgres/postgres-store.ts'
import { openSlots, slotOf, type LeaseTimes } from '../../../src/store/postgres/slots.ts'
import { postgresPrograms, startCluster, type Cluster } from '../../support/postgres.ts'

type Slots = ReturnType<typeof openSlots>

/** Short times: an attempt may begin in the first 1.5 s of a lease. */
const times: LeaseTimes = { leaseMs: 2_000, renewMs: 400, pollMs: 40, attemptMs: 500 }
/** Leases that are not renewed during a test. */
const lasting: LeaseTimes = { ...times, leaseMs: 600_000, renewMs: 300_000 }

/** An endpoint in each slot. */
const endpoints = Array.from({ length: 256 }, (_, slot) => {
  let number = 0
  while (slotOf(`we_${number}`) !== slot) number += 1
  return `we_${number}`
})

const ownedBy = (slots: Slots) => endpoints.filter(slots.owns)
const until = (condition: () => boolean | Promise<boolean>) =>
  vi.waitFor(async () => expect(await condition()).toBe(true), { timeout: 20_000, interval: 10 })

describe.skipIf(postgresPrograms === undefined)('slots in PostgreSQL', () => {
  let cluster: Cluster
  let store: PostgresStore
  let sandboxes = 0
  let opened: { slots: Slots; go: () => void }[] = []

  beforeAll(async () => {
    cluster = await startCluster()
  })
  afterAll(() => cluster.stop())
  beforeEach(async () => {
    store = await openPostgresStore({ url: cluster.url, sandbox: `slots_${++sandboxes}` })
  })
  afterEach(async () => {
    for (const { slots, go } of opened.splice(0)) {
      go()
      await slots.close()
    }
    await store.close()
  })

  /**
   * An instance. While it is stopped, its statements that match wait; `loseAnswers` loses the answers to those that match, `failOnce`
   * the next one that matches, and `delay` keeps it for later: the instance sees a failure.
   */
  function open(given: LeaseTimes = times) {
    let stopped: RegExp | undefined
    let goOn = () => {}
    let going = Promise.resolve()
    let losing: RegExp | undefined
    let failing: RegExp | undefined
    let delaying: RegExp | undefined
    let late: (() => Promise<unknown>) | undefined
    const query: PostgresStore['database']['query'] = async (text, values) => {
      if (stopped?.test(text) === true) await going
      if (failing?.test(text) === true) {
        failing = undefined
        throw new Error('The statement failed.')
      }
      if (delaying?.test(text) === true) {
        delaying = undefined
        late = () => store.database.query(text, values)
        throw new Error('There was no answer in time.')
      }
      const rows = await store.database.query<never>(text, values)
      if (losing?.test(text) === true) throw new Error('The answer is lost.')
      return rows
    }
    const slots = openSlots({ schema: store.database.schema, query }, given)
    const instance = {
      ...slots,
      slots,
      stop(pattern = /./) {
        stopped = pattern
        going = new Promise((resolve) => (goOn = resolve))
      },
      go() {
        stopped = undefined
        goOn()
      },
      loseAnswers: (pattern: RegExp | undefined) => void (losing = pattern),
      failOnce: (pattern: RegExp) => void (failing = pattern),
      delay(pattern: RegExp) {
        delaying = pattern
        return { isWaiting: () => late !== undefined, now: async () => late?.() }
      },
    }
    opened.push(instance)
    return instance
  }

  const rowsOf = (owner: string) =>
    store.database.query<{ slot: number }>(
      `SELECT slot FROM ${store.database.schema}.slots WHERE owner = $1 AND lease_until > now()`,
      [owner],
    )

  it('spread the endpoints evenly', () => {
    const counts = new Map<number, number>()
    for (let number = 0; number < 25_600; number += 1) {
      const slot = slotOf(`we_01KAK${(number * 7919).toString(32).toUpperCase().padStart(8, '0')}`)
      counts.set(slot, (counts.get(slot) ?? 0) + 1)
    }
    expect(counts.size).toBe(256)
    expect(Math.max(...counts.values())).toBeLessThan(200)
  })

  it('all belong to a single instance', async () => {
    const one = open()
    await until(() => ownedBy(one.slots).length === 256)
    expect(one.count()).toBe(256)
  })

  it('are shared fairly, each by one instance at a time, as instances come and go', async () => {
    const one = open()
    await until(() => ownedBy(one.slots).length === 256)
    const more = [open(), open()]
    const all = [one, ...more]
    const counts = () => all.map(({ slots }) => ownedBy(slots).length).sort((one, other) => one - other)
    await until(() => counts().join() === '84,86,86')
    expect(new Set(all.flatMap(({ slots }) => ownedBy(slots))).size).toBe(256)
    await one.close()
    await until(() => more.every(({ slots }) => ownedBy(slots).length === 128))
  })

  it('are taken once when instances start at the same time', async () => {
    for (let round = 0; round < 10; round += 1) {
      const all = [open(lasting), open(lasting), open(lasting)]
      await until(() => all.reduce((sum, { count }) => sum + count(), 0) >= 256)
      const owned = all.flatMap(({ slots }) => ownedBy(slots))
      expect(new Set(owned).size).toBe(owned.length)
      await Promise.all(all.map(({ close }) => close()))
      opened = []
    }
  })

  it('are taken without waiting for slots that another transaction holds', async () => {
    const { database } = store
    let end = () => {}
    const held = new Promise<void>((resolve) => (end = resolve))
    let locked = () => {}
    const isLocked = new Promise<void>((resolve) => (locked = resolve))
    const transaction = database.transaction(async (query) => {
      await query(`SELECT slot FROM ${database.schema}.slots WHERE slot < 100 FOR UPDATE`)
      locked()
      await held
    })
    await isLocked
    const one = open()
    await until(() => ownedBy(one.slots).length === 156)
    end()
    await transaction
    await until(() => ownedBy(one.slots).length === 256)
  })

  it('are renewed, so that they stay with a running instance', async () => {
    const one = open()
    await until(() => ownedBy(one.slots).length === 256)
    const [endpoint = ''] = endpoints
    const permit = one.begin(endpoint)
    const two = open()
    const began = performance.now()
    let isOwned = true
    while (performance.now() - began < 1.3 * times.leaseMs) {
      isOwned &&= permit?.isValid() === true
      expect(two.owns(endpoint)).toBe(false)
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
    expect(isOwned).toBe(true)
    permit?.end()
  })

  it('of an instance that no longer answers are taken when their leases end, and not before', async () => {
    const [one, two] = [open(), open()]
    await until(() => ownedBy(one.slots).length === 128 && ownedBy(two.slots).length === 128)
    const own = ownedBy(one.slots)
    const permit = one.begin(own[0] ?? '')
    one.stop()
    const began = performance.now()
    await until(() => {
      // The lease of one has less left than an attempt takes, long before the other gets it.
      if (own.some(two.owns)) expect([own.some(one.owns), permit?.isValid()]).toEqual([false, false])
      return own.every(two.owns)
    })
    expect(performance.now() - began).toBeGreaterThan(times.leaseMs - times.renewMs - 500)
    one.go()
    await until(() => ownedBy(one.slots).length === 128 && ownedBy(two.slots).length === 128)
    expect(permit?.isValid()).toBe(false)
    permit?.end()
  })

  it('whose lease has ended are taken again, and not renewed: earlier permits stay invalid', async () => {
    const one = open({ ...times, leaseMs: 60_000 })
    await until(() => ownedBy(one.slots).length === 256)
    const [endpoint = ''] = endpoints
    const permit = one.begin(endpoint)
    await store.database.query(
      `UPDATE ${store.database.schema}.slots SET lease_until = now() - interval '1 s'`,
    )
    await until(() => permit?.isValid() === false)
    await until(() => ownedBy(one.slots).length === 256)
    expect(permit?.isValid()).toBe(false)
    permit?.end()
  })

  it.runIf(isSoak)('that another instance took are not renewed', async () => {
    const one = open({ ...times, leaseMs: 60_000 })
    await until(() => ownedBy(one.slots).length === 256)
    const { database } = store
    await database.query(`UPDATE ${database.schema}.slots SET owner = 'another' WHERE slot = 7`)
    await until(() => !one.owns(endpoints[7] ?? ''))
    expect(await rowsOf('another')).toEqual([{ slot: 7 }])
  })

  it.runIf(isSoak)('are counted from before the statement was sent', async () => {
    const one = open({ ...lasting, leaseMs: 1_000, attemptMs: 500, renewMs: 1_000 })
    one.stop(/\), taken AS/)
    // The statement to take slots waits here for longer than the lease allows attempts.
    await new Promise((resolve) => setTimeout(resolve, 700))
    one.go()
    await until(() => one.count() === 256)
    expect(ownedBy(one.slots)).toEqual([])
  })

  it('are handed over when the attempts in flight have ended, and none begins before', async () => {
    const one = open()
    await until(() => ownedBy(one.slots).length === 256)
    const permits = endpoints.map((endpoint) => one.begin(endpoint))
    const two = open()
    await until(() => ownedBy(one.slots).length === 128)
    const leaving = endpoints.filter((endpoint) => !one.owns(endpoint))
    expect(leaving.map((endpoint) => one.begin(endpoint)).every((permit) => permit === undefined)).toBe(true)
    // The other instance has looked for free slots several times.
    await new Promise((resolve) => setTimeout(resolve, 10 * times.pollMs))
    expect(ownedBy(two.slots)).toEqual([])
    expect(permits.every((permit) => permit?.isValid())).toBe(true)
    const [first = ''] = leaving
    permits[endpoints.indexOf(first)]?.end()
    await until(() => two.owns(first))
    expect(ownedBy(two.slots)).toEqual([first])
    for (const permit of permits) permit?.end()
    await until(() => leaving.every(two.owns))
  })

  it('are released at once by an instance that closes, or when their attempts in flight end', async () => {
    const [one, two] = [open(lasting), open({ ...lasting, renewMs: 50 })]
    await until(() => one.count() + two.count() === 256 && two.count() > 0 && one.count() > 0)
    const [busy = ''] = ownedBy(one.slots)
    const permits = [one.begin(busy), one.begin(busy)]
    const closed = one.close()
    expect(ownedBy(one.slots)).toEqual([])
    expect(one.begin(busy)).toBeUndefined()
    await until(() => two.count() === 255)
    permits[0]?.end()
    await new Promise((resolve) => setTimeout(resolve, 200))
    expect(two.owns(busy)).toBe(false)
    permits[1]?.end()
    await closed
    await until(() => two.count() === 256)
    const { database } = store
    const instances = await database.query(`SELECT id FROM ${database.schema}.instances`)
    expect(instances).toEqual([{ id: two.instance }])
  })

  it('are found again when the answer of the statement that took them was lost', async () => {
    const one = open()
    one.loseAnswers(/SKIP LOCKED\n *\), taken/)
    await until(async () => (await rowsOf(one.instance)).length === 256)
    await until(() => ownedBy(one.slots).length === 256)
  })

  it.runIf(isSoak)('are kept when an earlier release arrives late', async () => {
    const late: (() => Promise<unknown>)[] = []
    const { database } = store
    const query: typeof database.query = (text, values) => {
      if (!text.includes('unnest') || late.length > 0) return database.query(text, values)
      late.push(() => database.query(text, values))
      return Promise.reject(new Error('The answer is lost.'))
    }
    const one = openSlots({ schema: database.schema, query }, times)
    await until(() => ownedBy(one).length === 256)
    const two = open()
    await until(() => two.count() === 128)
    await two.close()
    await until(() => ownedBy(one).length === 256)
    expect(late).toHaveLength(1)
    await late[0]?.()
    expect(await rowsOf(one.instance)).toHaveLength(256)
    await one.close()
  })

  it('are released even when the first statement of the release fails', async () => {
    const one = open(lasting)
    await until(() => ownedBy(one.slots).length === 256)
    one.failOnce(/DELETE FROM \S+ WHERE id = /)
    await one.close()
    expect(await rowsOf(one.instance)).toEqual([])
  })

  it.each([
    ['renews leases', /\), dead AS/],
    ['takes slots', /\), taken AS/],
  ])(
    'stay with the others when a statement that %s is executed after an instance has left',
    async (_, pattern) => {
      const one = open()
      const execute = one.delay(pattern)
      await until(() => execute.isWaiting())
      await one.close()
      await execute.now()
      const { database } = store
      expect(await rowsOf(one.instance)).toEqual([])
      expect(await database.query(`SELECT id FROM ${database.schema}.instances`)).toEqual([])
    },
  )

  it('report when an instance may begin attempts to further endpoints', async () => {
    const one = open()
    await until(() => ownedBy(one.slots).length === 256)
    const two = open()
    let told = 0
    two.onChange(() => (told += 1))
    await until(() => two.count() === 128)
    const before = told
    expect(before).toBeGreaterThan(0)
    await one.close()
    await until(() => two.count() === 256)
    expect(told).toBeGreaterThan(before)
  })

  it('report it also when a late renewal lets attempts begin again', async () => {
    // Attempts may begin in the first second of a lease.
    const one = open({ ...times, leaseMs: 20_000, attemptMs: 19_000, renewMs: 100 })
    await until(() => ownedBy(one.slots).length === 256)
    let seen = 256
    one.onChange(() => (seen = ownedBy(one.slots).length))
    one.stop(/\), dead AS/)
    await until(() => ownedBy(one.slots).length === 0)
    seen = 0
    one.go()
    await until(() => seen === 256)
  })

  it.runIf(isSoak)('survive a restart of the database', async () => {
    const one = open()
    await until(() => ownedBy(one.slots).length === 256)
    await cluster.kill()
    await until(() => ownedBy(one.slots).length === 0)
    await cluster.restart()
    await until(() => ownedBy(one.slots).length === 256)
  })

  it('end by themselves when the instance closes without an answer of the database', async () => {
    const one = open()
    await until(() => ownedBy(one.slots).length === 256)
    one.loseAnswers(/./)
    await until(() => ownedBy(one.slots).length === 0)
    await one.close()
    const two = open()
    await until(() => ownedBy(two.slots).length === 256)
  })
})
