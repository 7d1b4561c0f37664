import { signal, type ReadonlySignal } from '@preact/signals'
import { ask } from './ask.ts'
import type { List } from './list.ts'
import { withFirst, withNext, type End, type Loaded } from './merge.ts'

/** A list that is loaded page by page from either end, where it is looked at again when something has happened. */
export interface Rows<T> {
  loaded: ReadonlySignal<Loaded<T> | undefined>
  problem: ReadonlySignal<string | null>
  refresh(): void
  loadMore(): void
  /** Loads the list from this end unless its rows are there, and then calls `arrived` once with what is loaded. */
  goTo(end: End, arrived: (loaded: Loaded<T>) => void): void
  change(change: (row: T) => T): void
  end(): void
}

/** As many as the service gives at a time. */
const PAGE = 100

export function createRows<T extends { id: string }>(path: string): Rows<T> {
  const loaded = signal<Loaded<T> | undefined>(undefined)
  const problem = signal<string | null>(null)
  let wanted: End = 'newest'
  let arrived: ((loaded: Loaded<T>) => void) | undefined
  let ended = false
  let reading = false
  let stale = false
  let loading: string | undefined
  const page = (end: End, cursor: string | null) => {
    const order = end === 'oldest' ? '&order=asc' : ''
    const more = `limit=${PAGE}${order}${cursor === null ? '' : `&cursor=${cursor}`}`
    return ask<List<T>>('GET', `${path}${path.includes('?') ? '&' : '?'}${more}`)
  }
  const set = (now: Loaded<T>) => {
    const isTurned = now.end !== wanted
    const tell = arrived
    arrived = undefined
    wanted = now.end
    loaded.value = now
    tell?.(now)
    // What has come in at the one end while the other was looked at.
    if (isTurned) refresh()
  }
  const read = async () => {
    while (stale && !ended) {
      stale = false
      const end = wanted
      const first = await page(end, null)
      if (!ended && end === wanted) set(withFirst(loaded.value, first, end))
      problem.value = null
    }
  }
  const failed = (error: unknown) => {
    problem.value = error instanceof Error ? error.message : String(error)
    // What could not be gone to is not gone to later, when nobody expects it.
    wanted = loaded.value?.end ?? 'newest'
    arrived = undefined
  }
  function refresh() {
    stale = true
    if (reading) return
    reading = true
    void read()
      .catch(failed)
      .finally(() => (reading = false))
  }
  return {
    loaded,
    problem,
    refresh,
    loadMore() {
      const before = loaded.value
      const cursor = before?.cursor ?? null
      // What is still under way from where the list was before is not in the way.
      if (before === undefined || cursor === null || loading === cursor || before.end !== wanted) return
      loading = cursor
      void page(before.end, cursor)
        .then((next) => {
          const now = loaded.value
          if (ended || now?.cursor !== cursor || now.end !== wanted) return
          set(withNext(now, next))
        })
        .catch(failed)
        .finally(() => (loading = loading === cursor ? undefined : loading))
    },
    goTo(end, then) {
      const now = loaded.value
      if (now !== undefined && (now.end === end || now.cursor === null)) {
        wanted = now.end
        arrived = undefined
        return then(now)
      }
      wanted = end
      arrived = then
      refresh()
    },
    change(change) {
      if (loaded.value !== undefined) loaded.value = { ...loaded.value, rows: loaded.value.rows.map(change) }
    },
    end: () => void (ended = true),
  }
}
