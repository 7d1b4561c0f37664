import { afterEach, describe, expect, it, vi } from 'vitest'
import {
  createRows,
  missingIn,
  newestFirst,
  withFirst,
  withNext,
} from '../../../src/pages/browser/inspector/list/rows.ts'

interface Asked {
  path: string
  answer: (ids: readonly string[], cursor: string | null) => void
  fail: () => void
}

afterEach(() => vi.unstubAllGlobals())

/** What a list asks of the service, each waiting for its answer. */
function openService(): Asked[] {
  const asked: Asked[] = []
  vi.stubGlobal(
    'fetch',
    (path: string) =>
      new Promise<Response>((resolve, reject) => {
        asked.push({
          path,
          answer: (ids, cursor) =>
            resolve(Response.json({ data: ids.map((id) => ({ id })), next_cursor: cursor })),
          fail: () => reject(new TypeError('Failed to fetch')),
        })
      }),
  )
  return asked
}

const begin = async () => {
  const asked = openService()
  const rows = createRows<{ id: string }>('/deliveries')
  rows.refresh()
  asked.at(-1)?.answer(['f', 'e'], 'after-e')
  await expect.poll(() => rows.loaded.value?.rows.length).toBe(2)
  const listed = () => rows.loaded.value?.rows.map(({ id }) => id).join('')
  return { asked, rows, listed }
}

describe('the rows of a list', () => {
  it('are asked for once, however often the edge comes into sight', async () => {
    const { asked, rows, listed } = await begin()
    rows.loadMore()
    rows.loadMore()
    expect(asked.map(({ path }) => path)).toEqual([
      '/_sim/deliveries?limit=100',
      '/_sim/deliveries?limit=100&cursor=after-e',
    ])
    asked.at(-1)?.answer(['d', 'c'], 'after-c')
    await expect.poll(listed).toBe('fedc')
  })

  it('go on at the one end while a page at the other is still under way, which is then left', async () => {
    const { asked, rows, listed } = await begin()
    rows.loadMore()
    const late = asked.at(-1)
    const arrived = vi.fn<() => void>()
    rows.goTo('oldest', arrived)
    asked.at(-1)?.answer(['a', 'b'], 'after-b')
    await expect.poll(() => arrived.mock.calls.length).toBe(1)
    rows.loadMore()
    expect(asked.at(-1)?.path).toBe('/_sim/deliveries?limit=100&order=asc&cursor=after-b')
    late?.answer(['d', 'c'], 'after-c')
    rows.loadMore()
    expect(asked).toHaveLength(4)
    asked.at(-1)?.answer(['c', 'd'], 'after-d')
    await expect.poll(listed).toBe('abcd')
  })

  it('are asked for again after that has failed', async () => {
    const { asked, rows, listed } = await begin()
    rows.loadMore()
    asked.at(-1)?.fail()
    await expect.poll(() => rows.problem.value).toBe('The service did not answer.')
    rows.loadMore()
    asked.at(-1)?.answer(['d'], null)
    await expect.poll(listed).toBe('fed')
  })
})

const rowsOf = (...ids: string[]) => ids.map((id) => ({ id }))

describe('a list of pages', () => {
  const newest = { end: 'newest', rows: rowsOf('d', 'c', 'b', 'a'), cursor: 'after a' } as const
  const oldest = { end: 'oldest', rows: rowsOf('a', 'b', 'c', 'd'), cursor: 'after d' } as const

  it('takes up what is new at its end, and goes on at the other where it was', () => {
    expect(withFirst(newest, { data: rowsOf('f', 'e', 'd'), next_cursor: 'after d' }, 'newest')).toEqual({
      ...newest,
      rows: rowsOf('f', 'e', 'd', 'c', 'b', 'a'),
    })
    expect(withFirst(oldest, { data: rowsOf('b', 'c'), next_cursor: 'after c' }, 'oldest')).toEqual({
      ...oldest,
      rows: rowsOf('b', 'c', 'd'),
    })
  })

  it('begins anew where rows between the page at an end and the rest are missing', () => {
    const page = { data: rowsOf('h', 'g', 'f'), next_cursor: 'after f' }
    const fresh = { end: 'newest', rows: page.data, cursor: 'after f' }
    expect(withFirst(newest, page, 'newest')).toEqual(fresh)
    expect(withFirst(oldest, page, 'newest')).toEqual(fresh)
    expect(withFirst(newest, { data: rowsOf('1', '2'), next_cursor: 'after 2' }, 'oldest')).toEqual({
      end: 'oldest',
      rows: rowsOf('1', '2'),
      cursor: 'after 2',
    })
  })

  it.each([[rowsOf('d')], [rowsOf()]])('is what the page at an end is when that is all: %j', (data) => {
    const whole = { end: 'newest', rows: data, cursor: null }
    for (const end of ['newest', 'oldest'] as const)
      expect(withFirst(newest, { data, next_cursor: null }, end)).toEqual(whole)
  })

  it('is whole, and begins with the newest, when the pages of both ends meet', () => {
    const whole = { end: 'newest', cursor: null }
    expect(withFirst(newest, { data: rowsOf('1', 'a', 'b'), next_cursor: 'after b' }, 'oldest')).toEqual({
      ...whole,
      rows: rowsOf('d', 'c', 'b', 'a', '1'),
    })
    expect(withFirst(oldest, { data: rowsOf('e', 'd'), next_cursor: 'after d' }, 'newest')).toEqual({
      ...whole,
      rows: rowsOf('e', 'd', 'c', 'b', 'a'),
    })
    expect(withNext(oldest, { data: rowsOf('e'), next_cursor: null })).toEqual({
      ...whole,
      rows: rowsOf('e', 'd', 'c', 'b', 'a'),
    })
  })

  it('takes a further page once', () => {
    expect(withNext(newest, { data: rowsOf('a', '9'), next_cursor: 'after 9' })).toEqual({
      ...newest,
      rows: rowsOf('d', 'c', 'b', 'a', '9'),
      cursor: 'after 9',
    })
    expect(withNext(oldest, { data: rowsOf('d', 'e'), next_cursor: 'after e' })).toEqual({
      ...oldest,
      rows: rowsOf('a', 'b', 'c', 'd', 'e'),
      cursor: 'after e',
    })
  })

  it('is shown newest first, with what is missing on one side', () => {
    expect([newestFirst(newest), missingIn(newest)]).toEqual([newest.rows, 'below'])
    expect([newestFirst(oldest), missingIn(oldest)]).toEqual([newest.rows, 'above'])
    expect(missingIn({ ...newest, cursor: null })).toBe('nowhere')
  })
})
