import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { put, remove } from '../../src/model/records.ts'
import { Refusal } from '../../src/model/refusal.ts'
import { timers } from '../../src/timers.ts'
import type { Store } from '../../src/store/store.ts'
import { check, claim, delivery, endpoint, event, idOf, save, saveChecks, storedChecks } from './records.ts'

/** Tests that every store must pass. */
export function storeSuite(name: string, open: () => Promise<Store>): void {
  let store: Store
  beforeEach(async () => {
    store = await open()
  })
  afterEach(() => store.close())

  describe(`${name}: a transaction`, () => {
    it('gives the decision the records that it reads', async () => {
      await save(store, put('checks', check(1)), put('claims', claim(2)), put('claims', claim(1)))
      const reads = {
        byId: { collection: 'checks', id: idOf('chk', 1) },
        nothing: { collection: 'checks', id: 'chk_none' },
        byKey: { collection: 'checks', index: 'external', key: 'loc_1/POS-1' },
        claims: { collection: 'claims', index: 'check', key: 'loc_1/POS-1' },
        none: { collection: 'claims', index: 'check', key: 'loc_2/POS-1' },
      } as const
      const { seen } = await store.transact(reads, (records) => ({
        seen: { ...records, byKey: [...records.byKey], claims: [...records.claims], none: [...records.none] },
        writes: [],
      }))
      expect(seen).toEqual({
        byId: check(1),
        nothing: undefined,
        byKey: [check(1)],
        claims: [claim(1), claim(2)],
        none: [],
      })
    })

    it('gives records that can be iterated more than once', async () => {
      await save(store, put('endpoints', endpoint(1)), put('endpoints', endpoint(2)))
      const reads = { enabled: { collection: 'endpoints', index: 'status', key: 'enabled' } } as const
      const { counts } = await store.transact(reads, ({ enabled }) => ({
        counts: [[...enabled].length, [...enabled].length],
        writes: [],
      }))
      expect(counts).toEqual([2, 2])
    })

    it('returns the reply of the decision', async () => {
      const writes = [put('checks', check(1))]
      await expect(store.transact({}, () => ({ reply: 7, writes }))).resolves.toEqual({ reply: 7, writes })
    })

    it('has a sequence, after which transactions can be read until all records are replaced', async () => {
      const told: (number | undefined)[] = []
      store.onCommit((_writes, _kind, sequence) => told.push(sequence))
      const before = store.sequence()
      await save(store, put('checks', check(1)))
      await save(store, put('events', event(1)), put('deliveries', delivery(1)))
      await save(store, remove('events', idOf('evt', 1)))
      await store.bringUpToDate()
      expect(told).toEqual([before + 1, before + 2, before + 3])
      expect(store.sequence()).toBe(before + 3)
      expect(await store.committedAfter(before + 1)).toEqual([
        { sequence: before + 2, writes: [put('events', event(1)), put('deliveries', delivery(1))] },
        { sequence: before + 3, writes: [remove('events', idOf('evt', 1))] },
      ])
      expect(await store.committedAfter(before + 3)).toEqual([])
      expect(await store.committedAfter(before + 4)).toBeUndefined()
      await store.replace((all) => all)
      expect(store.sequence()).toBeGreaterThan(before + 3)
      expect(await store.committedAfter(before + 3)).toBeUndefined()
      expect(await store.committedAfter(store.sequence())).toEqual([])
    })

    it('writes nothing when the decision throws', async () => {
      const refusal = new Refusal('not_found', 'no')
      const refused = store.transact({}, () => {
        throw refusal
      })
      await expect(refused).rejects.toBe(refusal)
      expect(await storedChecks(store)).toEqual([])
    })

    it('sees earlier writes, even when all are started at once', async () => {
      const reads = { found: { collection: 'checks', id: idOf('chk', 1) } } as const
      const increments = Array.from({ length: 100 }, () =>
        store.transact(reads, ({ found }) => ({
          writes: [put('checks', check(1, { paid_cents: (found?.paid_cents ?? 0) + 1 }))],
        })),
      )
      await Promise.all(increments)
      expect((await store.get('checks', idOf('chk', 1)))?.paid_cents).toBe(100)
    })

    it('applies its writes in their order', async () => {
      await save(store, put('checks', check(1)), remove('checks', idOf('chk', 1)), put('checks', check(2)))
      expect(await storedChecks(store)).toEqual([2])
    })
  })

  describe(`${name}: an index`, () => {
    it('follows a record whose key changes, and forgets one that is removed', async () => {
      await save(
        store,
        put('endpoints', endpoint(1)),
        put('endpoints', endpoint(2)),
        put('endpoints', endpoint(3)),
      )
      await save(
        store,
        put('endpoints', endpoint(2, { status: 'disabled' })),
        remove('endpoints', endpoint(3).id),
      )
      expect(await store.find('endpoints', 'status', 'enabled')).toEqual([endpoint(1)])
      expect(await store.find('endpoints', 'status', 'disabled')).toEqual([
        endpoint(2, { status: 'disabled' }),
      ])
    })

    it('gives the current record when its key stays', async () => {
      await save(store, put('checks', check(1)))
      await save(store, put('checks', check(1, { paid_cents: 5 })))
      expect(await store.find('checks', 'external', 'loc_1/POS-1')).toEqual([check(1, { paid_cents: 5 })])
    })

    it('lists oldest first, for any order of insertion', async () => {
      await save(store, ...[3, 1, 2].map((number) => put('deliveries', delivery(number))))
      const found = await store.find('deliveries', 'pending_of', 'we_1')
      expect(found.map(({ id }) => id)).toEqual([1, 2, 3].map((number) => idOf('dlv', number)))
    })

    it('keeps keys with any characters apart', async () => {
      const keys = ['a', 'a\u0000', 'a\u0000b', 'a\uffff', 'ab', '']
      await save(store, ...keys.map((external_id, index) => put('checks', check(index, { external_id }))))
      for (const [index, external_id] of keys.entries())
        expect(await store.find('checks', 'external', `loc_1/${external_id}`)).toEqual([
          check(index, { external_id }),
        ])
    })
  })

  describe(`${name}: a page`, () => {
    it('is newest first, for any order of insertion', async () => {
      await saveChecks(store, 2, 3, 1)
      const { data, more } = await store.list('checks', { limit: 10 })
      expect(data.map(({ id }) => id)).toEqual([3, 2, 1].map((number) => idOf('chk', number)))
      expect(more).toBe(false)
    })

    it('says whether there is more, and continues after any identifier', async () => {
      await saveChecks(store, 1, 2, 4, 5)
      const page = async (after: string | undefined, limit: number, order?: 'asc') => {
        const { data, more } = await store.list('checks', { order, after, limit })
        return [...data.map(({ id }) => Number(id.slice(4))), more]
      }
      expect(await page(undefined, 2)).toEqual([5, 4, true])
      expect(await page(idOf('chk', 4), 2)).toEqual([2, 1, false])
      expect(await page(idOf('chk', 3), 1)).toEqual([2, true])
      expect(await page(idOf('chk', 1), 1)).toEqual([false])
      expect(await page(undefined, 2, 'asc')).toEqual([1, 2, true])
      expect(await page(idOf('chk', 2), 2, 'asc')).toEqual([4, 5, false])
      expect(await page(idOf('chk', 3), 1, 'asc')).toEqual([4, true])
      expect(await page(idOf('chk', 6), 1, 'asc')).toEqual([false])
    })

    it('has only matching records, also by a nested field', async () => {
      await save(
        store,
        put('checks', check(1, { status: 'closed' })),
        put('checks', check(2, { table: { number: '7' } })),
        put('checks', check(3, { status: 'closed', table: { number: '7' } })),
      )
      const numbers = async (where: Record<string, string>) =>
        (await store.list('checks', { where, limit: 10 })).data.map(({ id }) => Number(id.slice(4)))
      expect(await numbers({ status: 'closed' })).toEqual([3, 1])
      expect(await numbers({ 'table.number': '7' })).toEqual([3, 2])
      expect(await numbers({ 'table.number': '7', status: 'open' })).toEqual([2])
      expect(await numbers({ 'nowhere.to.be.found': '7' })).toEqual([])
    })

    it('has only records with a text in one of some fields, in any case of letters', async () => {
      await save(
        store,
        put('checks', check(1, { external_id: 'Bar (12.5)' })),
        put('checks', check(2, { table: { number: 'BAR' } })),
        put('checks', check(3, { revision: 712 })),
      )
      const numbers = async (text: string, ...fields: string[]) =>
        (await store.list('checks', { search: { text, fields }, limit: 10 })).data.map(({ id }) =>
          Number(id.slice(4)),
        )
      expect(await numbers('bar', 'external_id', 'table.number')).toEqual([2, 1])
      expect(await numbers('(12.5)', 'external_id')).toEqual([1])
      expect(await numbers('12', 'revision', 'nowhere')).toEqual([3])
      expect(await numbers('bar')).toEqual([])
    })
  })

  describe(`${name}: a long search`, () => {
    it('does not block others, and sees the records as of its start', async () => {
      const many = Array.from({ length: 5000 }, (_, index) => index + 1)
      await save(store, ...many.map((number) => put('checks', check(number))))
      let othersWent = 0
      const search = store.list('checks', { where: { external_id: 'POS-1' }, limit: 5 })
      setImmediate(() => (othersWent += 1))
      const write = save(store, put('checks', check(1, { external_id: 'gone' })))
      const { data, more } = await search
      expect(othersWent).toBe(1)
      await write
      expect([data, more]).toEqual([[check(1)], false])
      expect(await store.list('checks', { where: { external_id: 'POS-1' }, limit: 5 })).toEqual({
        data: [],
        more: false,
      })
    })
  })

  describe(`${name}: all records`, () => {
    it('have every collection, oldest first', async () => {
      await save(store, put('checks', check(2)), put('checks', check(1)), put('events', event(1)))
      const all = await store.everything()
      expect(all).toMatchObject({
        checks: [check(1), check(2)],
        events: [event(1)],
        keys: [],
        deliveries: [],
      })
    })

    it('are replaced as a whole, including indexes and due deliveries', async () => {
      await save(
        store,
        put('checks', check(1)),
        put('deliveries', delivery(1)),
        put('endpoints', endpoint(1)),
      )
      const later = '2026-01-01T13:00:00.000Z'
      await store.replace((all) => ({
        ...all,
        checks: [check(1, { external_id: 'other' }), check(2)],
        deliveries: [delivery(2, { next_attempt_at: later })],
      }))
      expect(await store.everything()).toMatchObject({
        checks: [{ external_id: 'other' }, check(2)],
        deliveries: [{ id: idOf('dlv', 2) }],
        endpoints: [endpoint(1)],
      })
      expect(await store.find('checks', 'external', 'loc_1/POS-1')).toEqual([])
      expect(await store.find('deliveries', 'pending_of', 'we_1')).toHaveLength(1)
      const query = { perEndpoint: 10 }
      expect(await store.due({ now: new Date('2026-01-01T12:30:00.000Z'), ...query })).toEqual({
        deliveries: [],
        next_at: later,
        more: false,
      })
    })

    it('are replaced and announced before transactions that wait for the replacement', async () => {
      const told: string[] = []
      const decided: [number, boolean][] = []
      const reads = { found: { collection: 'checks', id: idOf('chk', 1) } } as const
      const transact = (number: number) =>
        store.transact(reads, ({ found }, generation) => {
          decided.push([generation, found !== undefined])
          return { writes: [put('events', event(number))] }
        })
      store.onCommit((_writes, kind) => told.push(kind ?? 'transaction'))
      await transact(1)
      // So many records are loaded in several turns of the event loop.
      const checks = Array.from({ length: 5_000 }, (_, index) => check(index + 1))
      const replaced = store.replace((all) => ({ ...all, checks }))
      await timers.nextTurn()
      await Promise.all([replaced, transact(2)])
      expect(told).toEqual(['transaction', 'replacement', 'transaction'])
      expect([decided.at(0), decided.at(-1)]).toEqual([
        [0, false],
        [1, true],
      ])
    })

    it('are replaced between transactions, and not at all when the callback throws', async () => {
      const first = saveChecks(store, 1)
      const replaced = store.replace((all) => ({ ...all, checks: [...all.checks, check(2)] }))
      const then = saveChecks(store, 3)
      await Promise.all([first, replaced, then])
      expect(await storedChecks(store)).toEqual([1, 2, 3])
      const refusal = new Refusal('not_found', 'no')
      const refused = store.replace(() => {
        throw refusal
      })
      await expect(refused).rejects.toBe(refusal)
      expect(await storedChecks(store)).toEqual([1, 2, 3])
    })
  })

  describe(`${name}: due deliveries`, () => {
    const at = (minute: number) => `2026-01-01T12:0${minute}:00.000Z`
    const due = async (minute: number, perEndpoint = 10, busy: readonly number[] = []) => {
      const busyIds = new Set(busy.map((number) => idOf('dlv', number)))
      const { deliveries, next_at } = await store.due({
        now: new Date(at(minute)),
        perEndpoint,
        isBusy: (id) => busyIds.has(id),
      })
      return { due: deliveries.map(({ id }) => Number(id.slice(4))), next_at }
    }
    const pending = (number: number, minute: number, endpoint_id = 'we_1') =>
      put('deliveries', delivery(number, { next_attempt_at: at(minute), endpoint_id }))

    it('are an empty list when nothing is pending', async () => {
      expect(await due(1)).toEqual({ due: [], next_at: null })
    })

    it('come earliest first, with the time of the next', async () => {
      await save(
        store,
        pending(1, 3),
        pending(2, 1, 'we_2'),
        pending(3, 2),
        pending(4, 5),
        pending(5, 4, 'we_2'),
      )
      expect(await due(3)).toEqual({ due: [2, 3, 1], next_at: at(4) })
      expect(await due(9)).toEqual({ due: [2, 3, 1, 5, 4], next_at: null })
      expect(await due(0)).toEqual({ due: [], next_at: at(1) })
    })

    it('exclude busy ones, but count them for their endpoint', async () => {
      await save(store, pending(1, 1), pending(2, 1), pending(3, 1), pending(4, 1, 'we_2'))
      expect(await due(1, 2, [1])).toEqual({ due: [2, 4], next_at: null })
      expect(await due(1, 2, [1, 2])).toEqual({ due: [4], next_at: null })
      expect(await due(0, 2, [1, 4])).toEqual({ due: [], next_at: at(1) })
    })

    it('follow a postponed delivery, and drop a finished one', async () => {
      await save(store, pending(1, 1), pending(2, 1))
      await save(store, pending(1, 2))
      await save(store, put('deliveries', delivery(2, { status: 'delivered', next_attempt_at: null })))
      expect(await due(1)).toEqual({ due: [], next_at: at(2) })
      expect(await store.find('deliveries', 'pending_of', 'we_1')).toHaveLength(1)
    })
  })
}
