import { signal, type ReadonlySignal } from '@preact/signals'
import { ask, type List } from './ask.ts'

/** What of a list has been loaded, newest first, and how it goes on. */
export interface Loaded<T> {
  rows: readonly T[]
  /** `null` when there are no older ones. */
  cursor: string | null
}

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

/** The newest page in the place of what it covers. Where rows between it and the rest are missing, the rest goes. */
export function withNewest<T extends { id: string }>(
  before: Loaded<T> | undefined,
  page: List<T>,
): Loaded<T> {
  const fresh = { rows: page.data, cursor: page.next_cursor }
  const oldest = page.data.at(-1)
  const newestBefore = before?.rows[0]
  if (before === undefined || oldest === undefined || page.next_cursor === null) return fresh
  if (newestBefore === undefined || newestBefore.id < oldest.id) return fresh
  const older = before.rows.filter(({ id }) => id < oldest.id)
  return older.length === 0 ? fresh : { rows: [...page.data, ...older], cursor: before.cursor }
}

/** An older page behind what is there. */
export function withOlder<T extends { id: string }>(before: Loaded<T>, page: List<T>): Loaded<T> {
  const last = before.rows.at(-1)
  const older = page.data.filter(({ id }) => last === undefined || id < last.id)
  return { rows: [...before.rows, ...older], cursor: page.next_cursor }
}
