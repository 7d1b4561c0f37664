import { afterEach, describe, expect, it, vi } from 'vitest'
import { createRows } from '../../src/pages/browser/inspector/rows.ts'

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
