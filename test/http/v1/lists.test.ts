import { beforeEach, describe, expect, it } from 'vitest'
import type { List } from '../../../src/client.ts'
import { deliveriesInBatches, isWithin } from '../../../src/http/list.ts'
import type { Check } from '../../../src/model/check.ts'
import { isSoak } from '../../soak/seeded.ts'
import { errorOf, openSimulator, type TestSimulator } from '../../support/simulator.ts'

describe('lists', () => {
  let simulator: TestSimulator
  beforeEach(async () => {
    simulator = await openSimulator()
  })
  const list = async (path: string) => {
    const { status, json } = await simulator.call(`GET ${path}`)
    expect(status).toBe(200)
    return json as List<Check>
  }
  const ids = ({ data }: List<Check>) => data.map(({ external_id }) => external_id)

  it.each([
    '/v1/checks',
    '/v1/claims',
    '/v1/payments',
    '/v1/feedback',
    '/v1/webhook-endpoints',
    '/_sim/events',
    '/_sim/deliveries',
  ])('GET %s without records is an empty list without a cursor', async (path) => {
    expect((await simulator.call(`GET ${path}`)).text).toBe('{"data":[],"next_cursor":null}')
  })

  it('locations are listed in the same shape', async () => {
    const { data, next_cursor } = await simulator.client.locations.list()
    expect(next_cursor).toBeNull()
    expect(data.map((location) => Object.keys(location).join())).toEqual(
      Array(2).fill('id,name,timezone,currency,created_at'),
    )
    const [newest] = (await simulator.client.locations.list({ limit: 1 })).data
    expect(newest).toEqual(data[0])
  })

  it.each(['0', '101', '-1', '1.5', '1e1', 'all', '', '%201', '1000', '0x10'])(
    'a limit of “%s” is 400',
    async (limit) => {
      for (const path of [
        '/v1/locations',
        '/v1/checks',
        '/v1/claims',
        '/v1/webhook-endpoints',
        '/_sim/requests',
        '/_sim/keys',
      ]) {
        const answer = await simulator.call(`GET ${path}?limit=${limit}`)
        expect(answer.status).toBe(400)
        expect(errorOf(answer)).toMatchObject({ code: 'invalid_query' })
        expect(errorOf(answer).message).toContain('limit')
      }
    },
  )

  it.each([
    '',
    'x',
    'null',
    '1',
    'chk_00000000000000000000000000',
    Buffer.from('chk_1').toString('base64url'),
    `${Buffer.from('chk_00000000000000000000000000').toString('base64url')}=`,
    Buffer.from('chk_00000000000000000000000000x').toString('base64url'),
    Buffer.from("chk_' OR 1=1 --").toString('base64url'),
  ])('a cursor of “%s” is 400', async (cursor) => {
    for (const path of ['/v1/checks', '/_sim/events', '/_sim/requests']) {
      const answer = await simulator.call(`GET ${path}?cursor=${encodeURIComponent(cursor)}`)
      expect(answer.status).toBe(400)
      expect(errorOf(answer)).toMatchObject({ code: 'invalid_query' })
    }
  })

  it('a cursor of another list is 400, and one of its own list continues it', async () => {
    for (const name of ['a', 'b']) await simulator.push(name)
    const { next_cursor } = await list('/v1/checks?limit=1')
    for (const path of ['/v1/checks', '/_sim/checks'])
      expect(ids(await list(`${path}?cursor=${next_cursor}`))).toEqual(['a'])
    for (const path of [
      '/v1/locations',
      '/v1/claims',
      '/v1/payments',
      '/v1/feedback',
      '/v1/webhook-endpoints',
      '/_sim/keys',
      '/_sim/events',
      '/_sim/deliveries',
      '/_sim/requests',
    ]) {
      const answer = await simulator.call(`GET ${path}?cursor=${next_cursor}`)
      expect([path, answer.status, errorOf(answer).code]).toEqual([path, 400, 'invalid_query'])
      expect(errorOf(answer).message).toMatch(/^cursor belongs to another list\./)
    }
  })

  it.each([
    ['2026-02-30', 'must be an ISO 8601 time such as'],
    ['2026-11-21 (noon)', 'must be an ISO 8601 time such as'],
    ['2026-11-21T18:00:00', 'must end with Z or an offset'],
  ])('a time of “%s” is 400', async (time, issue) => {
    const answer = await simulator.call(`GET /_sim/events?from=${encodeURIComponent(time)}`)
    expect(answer.status).toBe(400)
    expect(errorOf(answer).code).toBe('invalid_query')
    expect(errorOf(answer).message).toMatch(new RegExp(`^from ${issue}`))
  })

  it('a search counts characters, not their halves', async () => {
    const search = (length: number) =>
      simulator.call(`GET /_sim/requests?q=${encodeURIComponent('🍮'.repeat(length))}`)
    expect((await search(255)).status).toBe(200)
    expect((await search(256)).status).toBe(400)
  })

  describe('of 45 checks', () => {
    const names = Array.from({ length: 45 }, (_, index) => `check-${index}`)
    const newestFirst = names.toReversed()
    beforeEach(async () => {
      for (const name of names) await simulator.push(name)
    })

    it('are newest first, 20 at a time by default, from 1 to 100', async () => {
      expect(ids(await list('/v1/checks'))).toEqual(newestFirst.slice(0, 20))
      expect(ids(await list('/v1/checks?limit=1'))).toEqual(newestFirst.slice(0, 1))
      const all = await list('/v1/checks?limit=100')
      expect(ids(all)).toEqual(newestFirst)
      expect(all.next_cursor).toBeNull()
    })

    it.each(isSoak ? [1, 7, 15, 20, 44, 45, 46] : [7, 45])(
      'are paged by %i without gaps or repeats, while checks arrive and change',
      async (limit) => {
        const seen: string[] = []
        let cursor: string | null = null
        do {
          const page: List<Check> = await list(
            `/v1/checks?limit=${limit}${cursor === null ? '' : `&cursor=${cursor}`}`,
          )
          expect(page.data.length).toBe(Math.min(limit, 45 - seen.length))
          seen.push(...ids(page))
          cursor = page.next_cursor
          await simulator.push(`new-${seen.length}`)
          await simulator.push('check-3', { table: { number: `${seen.length}` } })
        } while (cursor !== null)
        expect(seen).toEqual(newestFirst)
      },
    )

    it('that fill the last page exactly have no further page', async () => {
      const first = await list('/v1/checks?limit=40')
      const second = await list(`/v1/checks?limit=5&cursor=${first.next_cursor}`)
      expect(ids(second)).toEqual(newestFirst.slice(40))
      expect(second.next_cursor).toBeNull()
    })
  })

  describe('are filtered', () => {
    beforeEach(async () => {
      await simulator.push('a', { table: { number: '1' } })
      await simulator.push('b', { table: { number: '1' }, status: 'closed' })
      await simulator.push('c', { table: { number: '10' } })
      await simulator.push('d', { table: { number: '1' } })
    })

    it.each([
      ['status=open', ['d', 'c', 'a']],
      ['status=closed', ['b']],
      ['table=1', ['d', 'b', 'a']],
      ['table=10', ['c']],
      ['table=2', []],
      ['table=', []],
      ['status=open&table=1', ['d', 'a']],
      ['status=open&table=1&limit=1', ['d']],
      ['unknown=1', ['d', 'c', 'b', 'a']],
    ])('by ?%s', async (query, expected) => {
      expect(ids(await list(`/v1/checks?${query}`))).toEqual(expected)
    })

    it('and paged at the same time', async () => {
      const first = await list('/v1/checks?status=open&limit=2')
      expect(ids(first)).toEqual(['d', 'c'])
      const second = await list(`/v1/checks?status=open&limit=2&cursor=${first.next_cursor}`)
      expect(ids(second)).toEqual(['a'])
      expect(second.next_cursor).toBeNull()
    })

    it.each(['status=paid', 'status=', 'status=OPEN'])('but not by ?%s, which is 400', async (query) => {
      const answer = await simulator.call(`GET /v1/checks?${query}`)
      expect(answer.status).toBe(400)
      expect(errorOf(answer)).toMatchObject({ code: 'invalid_query' })
    })

    it('by the type and the check of events', async () => {
      const { events } = simulator.client
      expect((await events.list({ type: 'check.closed' })).data).toMatchObject([{ external_check_id: 'b' }])
      expect((await events.list({ external_check_id: 'b' })).data.map(({ type }) => type)).toEqual([
        'check.closed',
        'check.created',
      ])
    })
  })
})

it('a range of times includes its start, and excludes its end', () => {
  const range = { from: '2026-11-21T18:00:00.000Z', to: '2026-11-21T19:00:00.000Z' }
  const times = ['17:59:59.999', '18:00:00.000', '18:59:59.999', '19:00:00.000']
  expect(times.map((time) => isWithin(range, `2026-11-21T${time}Z`))).toEqual([false, true, true, false])
})

it('deliveries are read in batches, each once', async () => {
  const all = Array.from({ length: 5 }, (_, at) => ({ id: `dlv_${at}` }))
  const list = async (_name: string, { after = '' }: { after?: string }) => {
    const left = all.filter(({ id }) => id > after)
    return { data: left.slice(0, 2), more: left.length > 2 }
  }
  const read: string[] = []
  const service = { list } as unknown as Parameters<typeof deliveriesInBatches>[0]
  for await (const batch of deliveriesInBatches(service, {}, new AbortController().signal)) {
    read.push(...batch.map(({ id }) => id))
    if (read.length > 9) break
  }
  expect(read).toEqual(all.map(({ id }) => id))
})
