import { afterEach, describe, expect, it, vi } from 'vitest'
import { callService } from '../../../src/pages/browser/call.ts'
import {
  createRows,
  missingIn,
  newestFirst,
  withFirst,
  withNext,
} from '../../../src/pages/browser/inspector/list/rows.ts'

interface FakeRequest {
  path: string
  answer: (ids: readonly string[], cursor: string | null) => void
  fail: () => void
}

afterEach(() => vi.unstubAllGlobals())

/** Replaces `fetch`; returns the requests, each to be answered by the test. */
function stubFetch(): FakeRequest[] {
  const requests: FakeRequest[] = []
  vi.stubGlobal(
    'fetch',
    (path: string) =>
      new Promise<Response>((resolve, reject) => {
        requests.push({
          path,
          answer: (ids, cursor) =>
            resolve(Response.json({ data: ids.map((id) => ({ id })), next_cursor: cursor })),
          fail: () => reject(new TypeError('Failed to fetch')),
        })
      }),
  )
  return requests
}

const openRows = async () => {
  const requests = stubFetch()
  const rows = createRows<{ id: string }>('/deliveries')
  rows.refresh()
  requests.at(-1)?.answer(['f', 'e'], 'after-e')
  await expect.poll(() => rows.loaded.value?.rows.length).toBe(2)
  const listed = () => rows.loaded.value?.rows.map(({ id }) => id).join('')
  return { requests, rows, listed }
}

describe('the loaded rows of a list', () => {
  it('request the next page once, even when the edge comes into view several times', async () => {
    const { requests, rows, listed } = await openRows()
    rows.loadMore()
    rows.loadMore()
    expect(requests.map(({ path }) => path)).toEqual([
      '/_sim/deliveries?limit=100',
      '/_sim/deliveries?limit=100&cursor=after-e',
    ])
    requests.at(-1)?.answer(['d', 'c'], 'after-c')
    await expect.poll(listed).toBe('fedc')
  })

  it('load from the other end while a page is in flight that fails', async () => {
    const { requests, rows, listed } = await openRows()
    rows.loadMore()
    const late = requests.at(-1)
    const arrived = vi.fn<() => void>()
    rows.goTo('oldest', arrived)
    late?.fail()
    await expect.poll(() => rows.problem.value).toMatch('No response')
    requests.at(-1)?.answer(['a', 'b'], 'after-b')
    await expect.poll(listed).toBe('ab')
    expect(arrived).toHaveBeenCalledOnce()
  })

  it('load from the other end while a page is in flight, and ignore that page', async () => {
    const { requests, rows, listed } = await openRows()
    rows.loadMore()
    const late = requests.at(-1)
    const arrived = vi.fn<() => void>()
    rows.goTo('oldest', arrived)
    requests.at(-1)?.answer(['a', 'b'], 'after-b')
    await expect.poll(() => arrived.mock.calls.length).toBe(1)
    rows.loadMore()
    expect(requests.at(-1)?.path).toBe('/_sim/deliveries?limit=100&order=asc&cursor=after-b')
    late?.answer(['d', 'c'], 'after-c')
    rows.loadMore()
    expect(requests).toHaveLength(4)
    requests.at(-1)?.answer(['c', 'd'], 'after-d')
    await expect.poll(listed).toBe('abcd')
  })

  it('request a page again after a failure', async () => {
    const { requests, rows, listed } = await openRows()
    rows.loadMore()
    requests.at(-1)?.fail()
    await expect
      .poll(() => rows.problem.value)
      .toBe('No response from the service. Check that it is running.')
    rows.loadMore()
    requests.at(-1)?.answer(['d'], null)
    await expect.poll(listed).toBe('fed')
  })
})

describe('a call of the service', () => {
  const call = (response: Response) => {
    vi.stubGlobal('fetch', async () => response)
    return callService('GET', '/_sim/clock', { timeoutMs: 1_000 })
  }

  it('is unreachable when the body of a response breaks off', async () => {
    const broken = new ReadableStream({ start: (body) => body.error(new TypeError('network error')) })
    for (const body of [broken, '{"now":"2026'])
      await expect(call(new Response(body))).rejects.toMatchObject({ code: 'unreachable' })
  })

  it('is refused with the status when a proxy answers', async () => {
    const page = new Response('<h1>Bad gateway</h1>', { status: 502 })
    await expect(call(page)).rejects.toMatchObject({
      status: 502,
      message: 'The service returned status 502.',
    })
  })

  it('says that another server answers with a page', async () => {
    await expect(call(new Response('<html>Sign in</html>'))).rejects.toMatchObject({
      code: 'unknown',
      message: 'Another server answers here, with a page. Check the address and the proxy.',
    })
  })

  it('resolves with an empty object without a body', async () => {
    expect(await call(new Response(null, { status: 204 }))).toEqual({})
  })
})

const rowsOf = (...ids: string[]) => ids.map((id) => ({ id }))

describe('merging pages into a list', () => {
  const newest = { end: 'newest', rows: rowsOf('d', 'c', 'b', 'a'), cursor: 'after a' } as const
  const oldest = { end: 'oldest', rows: rowsOf('a', 'b', 'c', 'd'), cursor: 'after d' } as const

  it('adds new rows at one end and keeps the cursor at the other', () => {
    expect(withFirst(newest, { data: rowsOf('f', 'e', 'd'), next_cursor: 'after d' }, 'newest')).toEqual({
      ...newest,
      rows: rowsOf('f', 'e', 'd', 'c', 'b', 'a'),
    })
    expect(withFirst(oldest, { data: rowsOf('b', 'c'), next_cursor: 'after c' }, 'oldest')).toEqual({
      ...oldest,
      rows: rowsOf('b', 'c', 'd'),
    })
  })

  it('keeps and appends rows in the order of responses, in which ids need not fall', () => {
    const loaded = { end: 'newest', rows: rowsOf('c', 'd', 'a'), cursor: 'after a' } as const
    expect(withFirst(loaded, { data: rowsOf('e', 'c'), next_cursor: 'after c' }, 'newest').rows).toEqual(
      rowsOf('e', 'c', 'd', 'a'),
    )
    expect(withFirst(loaded, { data: rowsOf('b', 'c', 'd'), next_cursor: 'after d' }, 'newest').rows).toEqual(
      rowsOf('b', 'c', 'd', 'a'),
    )
    expect(withNext(loaded, { data: rowsOf('b', 'a'), next_cursor: 'after a' }).rows).toEqual(
      rowsOf('c', 'd', 'a', 'b'),
    )
  })

  it('starts again from the new page when rows between it and the loaded ones are missing', () => {
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

  it.each([[rowsOf('d')], [rowsOf()]])(
    'replaces the rows with a page after which no rows follow: %j',
    (data) => {
      const whole = { end: 'newest', rows: data, cursor: null }
      for (const end of ['newest', 'oldest'] as const)
        expect(withFirst(newest, { data, next_cursor: null }, end)).toEqual(whole)
    },
  )

  it('is complete and newest first when the pages of both ends meet', () => {
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

  it('adds each row of a further page once', () => {
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

  it('sorts the newest row first, and names the side with missing rows', () => {
    expect([newestFirst(newest), missingIn(newest)]).toEqual([newest.rows, 'below'])
    expect([newestFirst(oldest), missingIn(oldest)]).toEqual([newest.rows, 'above'])
    expect(missingIn({ ...newest, cursor: null })).toBe('nowhere')
  })
})
