import { signal, type ReadonlySignal } from '@preact/signals'
import { ask } from './ask.ts'
import type { List } from './list.ts'
import { withNewest, withOlder, type Loaded } from './merge.ts'

/** A list that is loaded page by page, and whose newest rows are looked at again when something has happened. */
export interface Rows<T> {
  loaded: ReadonlySignal<Loaded<T> | undefined>
  problem: ReadonlySignal<string | null>
  refresh(): void
  loadMore(): void
  change(change: (row: T) => T): void
  end(): void
}

/** As many as the service gives at a time. */
const PAGE = 100

export function createRows<T extends { id: string }>(path: string): Rows<T> {
  const loaded = signal<Loaded<T> | undefined>(undefined)
  const problem = signal<string | null>(null)
  let ended = false
  let reading = false
  let stale = false
  let loading = false
  const page = (cursor: string | null) => {
    const more = `limit=${PAGE}${cursor === null ? '' : `&cursor=${cursor}`}`
    return ask<List<T>>('GET', `${path}${path.includes('?') ? '&' : '?'}${more}`)
  }
  const read = async () => {
    while (stale && !ended) {
      stale = false
      const newest = await page(null)
      if (!ended) loaded.value = withNewest(loaded.value, newest)
      problem.value = null
    }
  }
  const failed = (error: unknown) =>
    void (problem.value = error instanceof Error ? error.message : String(error))
  return {
    loaded,
    problem,
    refresh() {
      stale = true
      if (reading) return
      reading = true
      void read()
        .catch(failed)
        .finally(() => (reading = false))
    },
    loadMore() {
      const cursor = loaded.value?.cursor ?? null
      if (loading || cursor === null) return
      loading = true
      void page(cursor)
        .then((older) => {
          if (!ended && loaded.value?.cursor === cursor) loaded.value = withOlder(loaded.value, older)
        })
        .catch(failed)
        .finally(() => (loading = false))
    },
    change(change) {
      if (loaded.value !== undefined) loaded.value = { ...loaded.value, rows: loaded.value.rows.map(change) }
    },
    end: () => void (ended = true),
  }
}
