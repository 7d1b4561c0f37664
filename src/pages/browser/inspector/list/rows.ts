import { type ReadonlySignal, signal } from '@preact/signals'
import { messageOf } from '../../call.ts'
import { pageLimit, type List } from '../../../../model/simulator/list-queries.ts'
import { callApi } from '../api.ts'

export type End = 'newest' | 'oldest'

/** The loaded part of a list: consecutive rows from one of its ends. */
export interface Loaded<T> {
  /** The end at which loading began. */
  end: End
  /** In order away from that end. */
  rows: readonly T[]
  /** Cursor of the next page; `null` when the list is complete, and then `end` is the newest. */
  cursor: string | null
}

/** A list that is loaded page by page from either end. */
export interface Rows<T> {
  loaded: ReadonlySignal<Loaded<T> | undefined>
  problem: ReadonlySignal<string | null>
  /** Reads the page at the current end again. */
  refresh(): void
  loadMore(): void
  /** Loads the list from an end, unless its rows are loaded, then calls `onLoaded` once. */
  goTo(end: End, onLoaded: (loaded: Loaded<T>) => void): void
  change(change: (row: T) => T): void
  /** Ignores the responses of reads in flight. */
  end(): void
}

export function createRows<T extends { id: string }>(path: string): Rows<T> {
  const loaded = signal<Loaded<T> | undefined>(undefined)
  const problem = signal<string | null>(null)
  let wanted: End = 'newest'
  let onLoaded: ((loaded: Loaded<T>) => void) | undefined
  let ended = false
  let reading = false
  let stale = false
  let loadingCursor: string | undefined
  const readPage = (end: End, cursor: string | null) => {
    const order = end === 'oldest' ? '&order=asc' : ''
    const more = `limit=${pageLimit.max}${order}${cursor === null ? '' : `&cursor=${cursor}`}`
    return callApi<List<T>>('GET', `${path}${path.includes('?') ? '&' : '?'}${more}`)
  }
  const set = (next: Loaded<T>) => {
    const isTurned = next.end !== wanted
    const notify = onLoaded
    onLoaded = undefined
    wanted = next.end
    loaded.value = next
    notify?.(next)
    // Rows may have come in at this end while the list was read from the other.
    if (isTurned) refresh()
  }
  const read = async () => {
    while (stale && !ended) {
      stale = false
      const end = wanted
      const first = await readPage(end, null)
      if (!ended && end === wanted) set(withFirst(loaded.value, first, end))
      problem.value = null
    }
  }
  const failed = (error: unknown) => {
    problem.value = messageOf(error)
    // A later refresh must not jump to the end that could not be loaded.
    wanted = loaded.value?.end ?? 'newest'
    onLoaded = undefined
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
      // A load from an earlier cursor does not block this one.
      if (before === undefined || cursor === null || loadingCursor === cursor || before.end !== wanted) return
      loadingCursor = cursor
      void readPage(before.end, cursor)
        .then((page) => {
          const now = loaded.value
          if (ended || now?.cursor !== cursor || now.end !== wanted) return
          set(withNext(now, page))
        })
        .catch((error: unknown) => (problem.value = messageOf(error)))
        .finally(() => (loadingCursor = loadingCursor === cursor ? undefined : loadingCursor))
    },
    goTo(end, callback) {
      const now = loaded.value
      if (now !== undefined && (now.end === end || now.cursor === null)) {
        wanted = now.end
        onLoaded = undefined
        return callback(now)
      }
      wanted = end
      onLoaded = callback
      refresh()
    },
    change(change) {
      if (loaded.value !== undefined) loaded.value = { ...loaded.value, rows: loaded.value.rows.map(change) }
    },
    end: () => void (ended = true),
  }
}

/** Replaces the rows that a page at an end covers. Further loaded rows stay, unless rows between them are missing. */
export function withFirst<T extends { id: string }>(
  before: Loaded<T> | undefined,
  page: List<T>,
  end: End,
): Loaded<T> {
  const fresh = { end, rows: page.data, cursor: page.next_cursor }
  if (before === undefined || page.next_cursor === null) return completed(fresh)
  // Not by the order of ids: the request log is in the order of responses, and its ids in that of requests.
  const covered = new Set(page.data.map(({ id }) => id))
  const known = seenFrom(end, before)
  const last = known.rows.findLastIndex(({ id }) => covered.has(id))
  const rest = last === -1 ? [] : known.rows.slice(last + 1)
  return rest.length === 0 ? fresh : completed({ ...known, rows: [...page.data, ...rest] })
}

/** Appends the next page. */
export function withNext<T extends { id: string }>(before: Loaded<T>, page: List<T>): Loaded<T> {
  const known = new Set(before.rows.map(({ id }) => id))
  const next = page.data.filter(({ id }) => !known.has(id))
  return completed({ ...before, rows: [...before.rows, ...next], cursor: page.next_cursor })
}

/** Returns the rows in display order. */
export function newestFirst<T>({ end, rows }: Loaded<T>): readonly T[] {
  return end === 'newest' ? rows : rows.toReversed()
}

/** The side of the displayed rows on which further rows are not loaded. */
export type Missing = 'above' | 'below' | 'nowhere'

export function missingIn(loaded: Loaded<unknown> | undefined): Missing {
  if ((loaded?.cursor ?? null) === null) return 'nowhere'
  return loaded?.end === 'oldest' ? 'above' : 'below'
}

/** Returns the rows as loaded from an end. Rows loaded from the other end are reversed; none is missing behind the last. */
function seenFrom<T>(end: End, loaded: Loaded<T>): Loaded<T> {
  return loaded.end === end ? loaded : { end, rows: loaded.rows.toReversed(), cursor: null }
}

/** Turns a complete list to the newest end. */
function completed<T>(loaded: Loaded<T>): Loaded<T> {
  return loaded.cursor === null ? seenFrom('newest', loaded) : loaded
}
