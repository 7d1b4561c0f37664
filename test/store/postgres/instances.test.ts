import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { noRecords, put, type Write } from '../../../src/model/records.ts'
import { Refusal } from '../../../src/model/refusal.ts'
import { openDatabase, STATEMENT_MS } from '../../../src/store/postgres/database.ts'
import { openSharedJournal } from '../../../src/store/postgres/journal.ts'
import { openPostgresStore, type PostgresStore } from '../../../src/store/postgres/postgres-store.ts'
import { createSecretBox } from '../../../src/store/postgres/secret-box.ts'
import { timers } from '../../../src/timers.ts'
import { startDatabaseProxy, type DatabaseProxy } from '../../support/database-proxy.ts'
import { postgresPrograms, openTestDatabase, type Database } from '../../support/postgres.ts'
import { check, delivery, idOf, save, saveChecks, storedChecks } from '../records.ts'

describe.skipIf(postgresPrograms === undefined)('instances that share a sandbox in PostgreSQL', () => {
  let server: Database
  let proxy: DatabaseProxy
  let sandbox = ''
  let opened = 0
  beforeAll(async () => {
    server = await openTestDatabase()
    proxy = await startDatabaseProxy(server)
  })
  afterAll(async () => {
    await proxy.close()
    await server.stop()
  })
  beforeEach(() => {
    sandbox = `instances_${++opened}`
    proxy.resume()
  })

  const open = async (url = server.url): Promise<PostgresStore> => {
    const store = await openPostgresStore({ url, sandbox })
    onTestFinished(() => store.close())
    return store
  }
  const one = idOf('chk', 1)
  const counter = { found: { collection: 'checks', id: one } } as const
  /** Adds 1 to a record in one transaction. */
  const increment = (store: PostgresStore) =>
    store.transact(counter, ({ found }) => ({
      writes: [put('checks', check(1, { paid_cents: (found?.paid_cents ?? 0) + 1 }))],
    }))
  /** Makes a record in one transaction, which refuses when there is one. */
  const makeOnce = (store: PostgresStore) =>
    store.transact({ found: { collection: 'checks', id: idOf('chk', 2) } }, ({ found }) => {
      if (found !== undefined) throw new Refusal('not_found', 'It is there already.')
      return { writes: [put('checks', check(2))] }
    })
  const count = async (store: PostgresStore) => (await store.get('checks', one))?.paid_cents
  const writesOf = (store: PostgresStore) => {
    const heard: string[] = []
    store.onCommit((writes, kind) => heard.push(kind ?? JSON.stringify(writes)))
    return heard
  }

  it('may start at the same time on a new sandbox', async () => {
    const stores = await Promise.all([open(), open(), open(), open(), open()])
    await Promise.all(stores.map(increment))
    expect(await Promise.all(stores.map(count))).toEqual([5, 5, 5, 5, 5])
  })

  it('read what another has written, as soon as it is acknowledged', async () => {
    const [first, second] = [await open(), await open()]
    for (const number of [1, 2, 3]) {
      await saveChecks(first, number)
      expect(await second.get('checks', idOf('chk', number))).toEqual(check(number))
    }
    await saveChecks(second, 4)
    expect(await storedChecks(first)).toEqual([1, 2, 3, 4])
  })

  it('decide on each other’s records: no write is lost', async () => {
    const stores = [await open(), await open(), await open()]
    await Promise.all(stores.flatMap((store) => Array.from({ length: 200 }, () => increment(store))))
    expect(await Promise.all(stores.map(count))).toEqual([600, 600, 600])
    expect(stores.map((store) => store.counts().conflicts).reduce((sum, one) => sum + one)).toBeGreaterThan(0)
  })

  it('take turns when others write without pause: none is starved', async () => {
    const [first, second, third] = [await open(), await open(), await open()]
    let isOver = false
    let unanswered = 0
    /** A slow machine may exceed the time limit of a statement. Then it is not known whether the database has done it. */
    const tryToIncrement = (store: PostgresStore) =>
      increment(store).catch((error: unknown) => {
        expect(error).toMatchObject({ code: 'storage_unavailable' })
        unanswered += 1
      })
    const busy = [first, second].flatMap((store) =>
      Array.from({ length: 64 }, async () => {
        while (!isOver) await tryToIncrement(store)
      }),
    )
    const ROUNDS = 30
    for (let round = 0; round < ROUNDS; round++) await tryToIncrement(third)
    isOver = true
    await Promise.all(busy)
    // It loses three races at most, then waits for its turn.
    expect(third.counts().conflicts).toBeLessThanOrEqual(3 * ROUNDS)
    expect(third.counts().transactions).toBeGreaterThan(ROUNDS / 2)
    const answered = [first, second, third].reduce((sum, store) => sum + store.counts().transactions, 0)
    const counted = (await count(third)) ?? 0
    expect(counted).toBeGreaterThanOrEqual(answered)
    expect(counted).toBeLessThanOrEqual(answered + unanswered)
  })

  it('decide again from the stored records after a conflict', async () => {
    const stores = [await open(), await open(), await open()]
    const add = (store: PostgresStore, number: number) =>
      store.transact({ found: { collection: 'checks', id: idOf('chk', number) } }, ({ found }) => ({
        writes: [put('checks', check(number, { paid_cents: (found?.paid_cents ?? 0) + 1 }))],
      }))
    for (let round = 0; round < 30; round++)
      await Promise.all(stores.map((store, index) => add(store, index + 1)))
    const { data } = (await stores[0]?.list('checks', { limit: 9 })) ?? { data: [] }
    expect(data.map(({ paid_cents }) => paid_cents)).toEqual([30, 30, 30])
  })

  it('refuse by the records of all instances, and let only one of many create a record', async () => {
    const stores = [await open(), await open(), await open()]
    const made = await Promise.allSettled(
      stores.flatMap((store) => [makeOnce(store), makeOnce(store), makeOnce(store)]),
    )
    expect(made.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    expect(made.filter(({ status }) => status === 'rejected')).toHaveLength(8)
  })

  it('confirm a decision that writes nothing', async () => {
    const [first, second] = [await open(), await open()]
    await increment(first)
    const { seen } = await second.transact(counter, ({ found }) => ({ seen: found?.paid_cents, writes: [] }))
    expect(seen).toBe(1)
  })

  it('receive all commits of all instances in one order, once each', async () => {
    const stores = [await open(), await open()]
    const heard = stores.map(writesOf)
    await Promise.all(
      stores.flatMap((store, at) =>
        Array.from({ length: 50 }, (_, index) => saveChecks(store, 1 + index * 2 + at)),
      ),
    )
    await Promise.all(stores.map((store) => store.bringUpToDate()))
    expect(heard[0]).toHaveLength(100)
    expect(heard[1]).toEqual(heard[0])
    const all = heard[0]?.flatMap((json) =>
      (JSON.parse(json) as Write[]).map((write) => 'put' in write && write.put.id),
    )
    expect(new Set(all).size).toBe(100)
  })

  it('are notified of writes without asking', async () => {
    const [first, second] = [await open(), await open()]
    const heard = new Promise<readonly Write[]>((resolve) => second.onCommit((writes) => resolve(writes)))
    await save(first, put('deliveries', delivery(1)))
    expect(await heard).toEqual([put('deliveries', delivery(1))])
  })

  it('announce that a delivery ends without an attempt', async () => {
    const [first, second] = [await open(), await open()]
    const heard = writesOf(second)
    await save(first, { collection: 'deliveries', put: delivery(1), retires: true })
    await second.bringUpToDate()
    expect(heard.join()).toContain('"retires":true')
  })

  it('replace all records for all: nothing that was decided before is written after', async () => {
    const [first, second] = [await open(), await open()]
    await saveChecks(second, 1, 2)
    const heard = writesOf(second)
    await first.replace((all) => ({ ...noRecords, checks: all.checks.slice(1), deliveries: [delivery(1)] }))
    const at: number[] = []
    await second.transact({}, (_records, generation) => {
      at.push(generation)
      return { writes: [put('checks', check(3))] }
    })
    expect(at.at(-1)).toBe(1)
    expect([first.generation(), second.generation()]).toEqual([1, 1])
    expect(await storedChecks(first)).toEqual([2, 3])
    expect(await storedChecks(second)).toEqual([2, 3])
    expect(heard[0]).toBe('replacement')
    expect(await storedChecks(await open())).toEqual([2, 3])
  })

  it('replace all records one after the other', async () => {
    const stores = [await open(), await open()]
    await saveChecks(stores[0] ?? (await open()), 1)
    const paid = (store: PostgresStore) =>
      store.replace((all) => ({
        ...all,
        checks: all.checks.map((one) => ({ ...one, paid_cents: one.paid_cents + 1 })),
      }))
    await Promise.all(stores.flatMap((store) => [paid(store), paid(store), increment(store)]))
    expect(await Promise.all(stores.map(count))).toEqual([6, 6])
  })

  it('answer reads with the old records while one of them replaces all records', async () => {
    const [first, second] = [await open(), await open()]
    await saveChecks(first, 1)
    const checks = Array.from({ length: 20_000 }, (_, index) => check(index + 2))
    const over: string[] = []
    const note = (what: string) => (value: unknown) => {
      over.push(what)
      return value
    }
    let replaced = Promise.resolve<unknown>(undefined)
    const making = new Promise<void>((resolve) => {
      replaced = first.replace(() => {
        setImmediate(resolve)
        return { ...noRecords, checks }
      })
    })
    const end = replaced.then(note('replace'))
    await making
    const saved = saveChecks(first, 30_000).then(note('save'))
    for (const store of [first, second])
      expect(await store.get('checks', one).then(note('get'))).toEqual(check(1))
    await Promise.all([end, saved])
    expect(over).toEqual(['get', 'get', 'replace', 'save'])
    expect(await storedChecks(first)).toHaveLength(20_001)
    // The other one has to read all records, for which a busy machine takes longer than a request may.
    const seen = () => storedChecks(second).catch(() => [])
    await expect.poll(seen, { timeout: 20_000 }).toHaveLength(20_001)
  })

  it('load all records once after a replacement, also when that takes longer than a request may', async () => {
    const store = await open()
    await saveChecks(store, 1)
    const other = await openDatabase({ url: server.url, sandbox })
    onTestFinished(() => other.close())
    const { schema } = other
    await other.transaction(async (query) => {
      await query(`LOCK TABLE ${schema}.records IN ACCESS EXCLUSIVE MODE`)
      await other.transaction(async (replace) => {
        await replace(`UPDATE ${schema}.sandbox SET seq = seq + 1, generation = generation + 1`)
        await replace(`UPDATE ${schema}.compacted SET seq = (SELECT seq FROM ${schema}.sandbox)`)
        await replace(`DELETE FROM ${schema}.changes`)
      })
      for (let nth = 0; nth < 2; nth += 1)
        await expect(store.get('checks', one)).rejects.toMatchObject({ code: 'storage_unavailable' })
      const loads = await other.query(
        `SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%FROM ${schema}.records%'`,
      )
      expect(loads).toHaveLength(1)
    })
    await expect.poll(() => store.bringUpToDate().then(() => store.generation()), { timeout: 10_000 }).toBe(1)
    expect(await storedChecks(store)).toEqual([])
  })

  it('answer reads while writes are held up, and refuse the writes without a notice', async () => {
    const notices: string[] = []
    const store = await openPostgresStore({
      url: server.url,
      sandbox,
      onNotice: (told) => notices.push(told),
    })
    onTestFinished(() => store.close())
    await increment(store)
    const other = await openDatabase({ url: server.url, sandbox })
    onTestFinished(() => other.close())
    await other.transaction(async (query) => {
      await query(`SELECT FROM ${other.schema}.sandbox FOR UPDATE`)
      const written = increment(store)
      const read = count(store)
      await expect(written).rejects.toMatchObject({ code: 'storage_unavailable' })
      expect(await read).toBe(1)
    })
    await expect.poll(() => increment(store).then(() => true)).toBe(true)
    expect(notices).toEqual([])
  })

  it('refuse writes at once while the server refuses them, and answer reads', async () => {
    const notices: string[] = []
    const onNotice = (notice: string) => notices.push(notice)
    const store = await openPostgresStore({ url: server.url, sandbox, onNotice })
    onTestFinished(() => store.close())
    await increment(store)
    const { query, schema } = store.database
    await query(`CREATE FUNCTION ${schema}.refuse() RETURNS trigger LANGUAGE plpgsql AS
      $$ BEGIN RAISE EXCEPTION 'no space left' USING ERRCODE = '53100'; END $$`)
    await query(
      `CREATE TRIGGER full_disk BEFORE INSERT ON ${schema}.changes EXECUTE FUNCTION ${schema}.refuse()`,
    )
    for (let nth = 0; nth < 2; nth += 1) {
      const error: unknown = await increment(store).catch((reason: unknown) => reason)
      expect(error).toMatchObject({
        code: 'storage_unavailable',
        message: expect.stringMatching(/^The database refuses statements \(53100\)\./) as string,
      })
      expect(await count(store)).toBe(1)
    }
    await query(`DROP TRIGGER full_disk ON ${schema}.changes`)
    await increment(store)
    expect(await count(store)).toBe(2)
    expect(notices).toEqual([
      expect.stringMatching(/^The database refuses .* Requests that write get 503 until then\.$/) as string,
      'The database answers again.',
    ])
  })

  it('divide many large transactions into several batches', async () => {
    const batches: number[] = []
    const onBatch = ({ transactions }: { transactions: number }) => batches.push(transactions)
    const store = await openPostgresStore({ url: server.url, sandbox, onBatch })
    onTestFinished(() => store.close())
    const table = { number: 'x'.repeat(1_000_000) }
    const saved = Array.from({ length: 12 }, (_, nth) =>
      save(store, put('checks', check(nth + 1, { table }))),
    )
    await Promise.all(saved)
    expect(batches.reduce((sum, some) => sum + some)).toBe(12)
    expect(Math.max(...batches)).toBeLessThanOrEqual(5)
    expect(await storedChecks(await open())).toHaveLength(12)
  })

  describe('values', () => {
    it('are the same everywhere, and change in transactions', async () => {
      const stores = [await open(), await open()]
      const add = (store: PostgresStore) =>
        store.values.update('sum', (sum) => ({ value: Number(sum ?? 0) + 1, reply: Number(sum ?? 0) + 1 }))
      const replies = await Promise.all(
        stores.flatMap((store) => Array.from({ length: 20 }, () => add(store))),
      )
      expect(replies.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 40 }, (_, index) => index + 1))
      await Promise.all(stores.map((store) => store.bringUpToDate()))
      expect(stores.map((store) => store.values.get('sum'))).toEqual([40, 40])
      expect((await open()).values.get('sum')).toBe(40)
    })

    it('are announced on other instances, also when removed, and outlive a replacement', async () => {
      const [first, second] = [await open(), await open()]
      const heard: unknown[] = []
      second.values.onChange((key, value) => heard.push([key, value]))
      const set = (value: number | undefined) => first.values.update('a', () => ({ value, reply: undefined }))
      await set(1)
      await second.bringUpToDate()
      await set(undefined)
      await second.bringUpToDate()
      await set(2)
      await first.replace(() => noRecords)
      await second.bringUpToDate()
      expect(heard).toEqual([
        ['a', 1],
        ['a', undefined],
        ['a', 2],
      ])
      expect([second.values.get('a'), (await open()).values.get('a')]).toEqual([2, 2])
    })
  })

  describe('with a connection that fails', () => {
    it('find a transaction whose answer was lost, and make it once', async () => {
      const [first, second] = [await open(proxy.url), await open()]
      await increment(first)
      for (let lost = 0; lost < 10; lost++) {
        proxy.cutAfterNextRequest()
        await increment(first)
      }
      expect([await count(first), await count(second)]).toEqual([11, 11])
    })

    it('find it also when others write meanwhile', async () => {
      const [first, second] = [await open(proxy.url), await open()]
      for (let lost = 0; lost < 5; lost++) {
        proxy.cutAfterNextRequest()
        await Promise.all([increment(first), increment(second), increment(second)])
      }
      expect([await count(first), await count(second)]).toEqual([15, 15])
    })

    it('find it also when it waited for a lock and its connection was cut three times', async () => {
      const [first, database] = [await open(proxy.url), await openDatabase({ url: server.url, sandbox })]
      onTestFinished(() => database.close())
      await increment(first)
      // A slow machine must not use up the time of the round before its connection is cut three times.
      const clock = vi.spyOn(timers, 'elapsed').mockReturnValue(timers.elapsed())
      onTestFinished(() => clock.mockRestore())
      const waitFor = (statements: number) =>
        expect
          .poll(
            () =>
              database.query(
                `SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%' || $1 || '%'`,
                [database.schema],
              ),
            { timeout: 5_000, interval: 5 },
          )
          .toHaveLength(statements)
      let made: ReturnType<typeof Promise.allSettled> | undefined
      await database.transaction(async (query) => {
        await query(`SELECT FROM ${database.schema}.sandbox FOR UPDATE`)
        made = Promise.allSettled([increment(first), makeOnce(first)])
        for (let lost = 1; lost <= 3; lost++) {
          await waitFor(lost)
          proxy.cut()
        }
        // The next statement is the one with which an instance waits for its turn.
        await waitFor(4)
      })
      expect((await made)?.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled'])
      expect(await count(first)).toBe(2)
    })

    it('replace all records once, also when the next read of the journal fails', async () => {
      const first = await open(proxy.url)
      await saveChecks(first, 1, 2)
      await first.replace((all) => {
        // The next look at the journal follows the replacement.
        proxy.cutAfterNextRequest('LEFT JOIN')
        return { ...all, checks: all.checks.slice(1) }
      })
      expect([first.generation(), await storedChecks(first)]).toEqual([1, [2]])
    })

    it.each([
      ['at its first statement', 0, 'DELETE FROM'],
      ['amid its records', 10_000, check(5_000).id],
    ])(
      'give up a replacement whose connection is half open %s, so that all instances write again',
      async (_when, amount, text) => {
        const [first, second] = [await open(proxy.url), await open()]
        await increment(first)
        const checks = Array.from({ length: amount }, (_, index) => check(index + 1))
        const swallowed = proxy.swallowFrom(text)
        const replacing = first
          .replace(() => ({ ...noRecords, checks }))
          .then(
            () => 'replaced',
            (error: unknown) => error,
          )
        await swallowed
        expect(await replacing).toMatchObject({ code: 'storage_unavailable' })
        await increment(first)
        await expect.poll(() => increment(second).catch(() => undefined), { timeout: 10_000 }).toBeDefined()
        expect([await count(first), await storedChecks(first)]).toEqual([3, [1]])
      },
      20_000,
    )

    it('load all records again when the connection of a load is half open', async () => {
      const [first, second] = [await open(proxy.url), await open()]
      const swallowed = proxy.swallowFrom('UNION ALL')
      await second.replace(() => ({ ...noRecords, checks: [check(7)] }))
      await swallowed
      await expect.poll(() => storedChecks(first).catch(() => []), { timeout: 15_000 }).toEqual([7])
      await increment(first)
    }, 20_000)

    it('refuse within two seconds while the database is silent, and recover by themselves', async () => {
      const [first, second] = [await open(proxy.url), await open()]
      await increment(first)
      proxy.stall()
      const refused = await Promise.allSettled([increment(first), first.get('checks', one)])
      expect(refused.map((one) => one.status === 'rejected' && (one.reason as Refusal).code)).toEqual([
        'storage_unavailable',
        'storage_unavailable',
      ])
      await increment(second)
      proxy.resume()
      // The delayed statements arrive now and have no effect: other instances have written since.
      await expect.poll(() => first.bringUpToDate().then(() => count(first)), { timeout: 10_000 }).toBe(2)
      await increment(first)
      expect([await count(first), await count(second)]).toEqual([3, 3])
    })

    it('send no delivery before its transaction is durable', async () => {
      const first = await open(proxy.url)
      await increment(first)
      proxy.stall()
      let saving: Promise<unknown> = Promise.resolve()
      await new Promise<void>((decided) => {
        saving = first.transact({}, () => {
          setImmediate(decided)
          return { writes: [put('deliveries', delivery(1))] }
        })
        saving.catch(() => undefined)
      })
      const due = first.due({ now: new Date('2100-01-01'), perEndpoint: 8 })
      await expect(saving).rejects.toMatchObject({ code: 'storage_unavailable' })
      expect((await due).deliveries).toEqual([])
    })

    it('write a held statement at most once, when no other instance writes', async () => {
      const first = await open(proxy.url)
      await increment(first)
      proxy.stall()
      await expect(increment(first)).rejects.toMatchObject({ code: 'storage_unavailable' })
      proxy.resume()
      await expect.poll(() => first.bringUpToDate().then(() => true), { timeout: 10_000 }).toBe(true)
      await increment(first)
      const total = await count(first)
      expect([2, 3]).toContain(total)
      expect(await count(await open())).toBe(total)
    })
  })

  describe('in a process without CPU for longer than a statement may take', () => {
    /** Keeps this process from running, as a busy machine does. */
    const starve = () => void Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, STATEMENT_MS + 500)
    /** Adds 1 to a record. The process is starved as soon as the statement is sent. */
    const incrementStarved = (store: PostgresStore) => {
      let isFirst = true
      return store.transact(counter, ({ found }) => {
        if (isFirst) setImmediate(starve)
        isFirst = false
        return { writes: [put('checks', check(1, { paid_cents: (found?.paid_cents ?? 0) + 1 }))] }
      })
    }

    it('acknowledge a write that the database has confirmed meanwhile', async () => {
      // The answer passes through this process, too, so that it is never read before.
      const first = await open(proxy.url)
      await increment(first)
      await incrementStarved(first)
      expect(await count(first)).toBe(2)
    })

    it('decide again when another instance has written meanwhile', async () => {
      const stores = [await open(), await open(), await open()]
      await Promise.all(stores.map(increment))
      await Promise.all(stores.map(incrementStarved))
      expect(await Promise.all(stores.map(count))).toEqual([6, 6, 6])
    })
  })

  describe('the journal', () => {
    it('is compacted into the records, and an instance that starts later has everything', async () => {
      const first = await open()
      await saveChecks(first, 1, 2, 3)
      await save(first, { collection: 'checks', remove: idOf('chk', 2) })
      const database = await openDatabase({ url: server.url, sandbox })
      onTestFinished(() => database.close())
      const compactedTo = async () =>
        (await database.query<{ seq: string }>(`SELECT seq FROM ${database.schema}.compacted`))[0]?.seq
      await expect.poll(compactedTo, { timeout: 20_000 }).toBe('4')
      await saveChecks(first, 4)
      expect(await storedChecks(await open())).toEqual([1, 3, 4])
      const rows = await database.query(
        `SELECT id FROM ${database.schema}.records WHERE collection = 'checks'`,
      )
      expect(rows).toEqual([{ id: idOf('chk', 1) }, { id: idOf('chk', 3) }])
    })

    it('may be compacted by several instances at once', async () => {
      const stores = [await open(), await open()]
      const journals = stores.map(({ database }) =>
        openSharedJournal(database, createSecretBox(undefined, 'test')),
      )
      for (let round = 0; round < 40; round++)
        await Promise.all([
          ...stores.flatMap((store) => [increment(store), increment(store)]),
          ...journals.flatMap((journal) => [journal.compact(), journal.compact(), journal.compact()]),
        ])
      expect(await count(await open())).toBe(160)
    })

    it('may be cut: an instance that is behind loads everything', async () => {
      const [first, second] = [await open(proxy.url), await open()]
      const database = await openDatabase({ url: server.url, sandbox })
      onTestFinished(() => database.close())
      proxy.stall()
      await saveChecks(second, 1, 2)
      await database.transaction(async (query) => {
        await query(`INSERT INTO ${database.schema}.records (collection, id, doc)
          SELECT collection, id, doc FROM ${database.schema}.changes ON CONFLICT DO NOTHING`)
        await query(
          `UPDATE ${database.schema}.compacted SET seq = (SELECT max(seq) FROM ${database.schema}.changes)`,
        )
        await query(`DELETE FROM ${database.schema}.changes`)
      })
      await saveChecks(second, 3)
      proxy.resume()
      await expect.poll(() => storedChecks(first).catch(() => []), { timeout: 10_000 }).toEqual([1, 2, 3])
    })
  })

  it('a transaction that failed and reports no error is not taken for committed', async () => {
    const database = await openDatabase({ url: server.url, sandbox })
    onTestFinished(() => database.close())
    const failing = database.transaction(async (query) => {
      await query('SELECT 1/0').catch(() => undefined)
    })
    await expect(failing).rejects.toThrow('rolled back')
  })
})
