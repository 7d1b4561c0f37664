import { signal } from '@preact/signals'
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks'
import { address, go, Link, openInDrawer } from '../address.tsx'
import { announce, announceNow } from '../announce.tsx'
import { queryText } from '../api.ts'
import { serviceNow } from '../clock.tsx'
import { Command } from '../elements.tsx'
import { useKeys } from '../keyboard.tsx'
import { isGone, type LiveMessage, onLive, throttled } from '../live.ts'
import { FilterBar } from './filter-bar.tsx'
import { createRows, type End, missingIn, newestFirst, type Rows } from './rows.ts'
import type { View } from './view.ts'
import { VirtualList } from './virtual-list.tsx'

const narrowQuery = matchMedia('(max-width: 60rem)')

/** True on narrow screens, where a row takes two lines. */
const isNarrow = signal(narrowQuery.matches)

narrowQuery.addEventListener('change', ({ matches }) => {
  isNarrow.value = matches
})

/** Height of every row in pixels. On a narrow screen, rows with dates have three lines. */
function rowHeight(dates: Dates): number {
  if (!isNarrow.value) return 36
  return dates === 'none' ? 64 : 80
}

/** A list with search, filters, live updates and keyboard navigation. */
export function ListView<T extends { id: string }>({ view }: { view: View<T> }) {
  const { filters, open } = address.value
  const query = queryText({ ...view.fixed, ...filters })
  const rows = useMemo(() => createRows<T>(view.path + query), [view.path, query])
  useLiveRows(view, rows)
  const loaded = rows.loaded.value
  const problem = rows.problem.value
  const list = useMemo(() => (loaded === undefined ? [] : newestFirst(loaded)), [loaded])
  const missing = missingIn(loaded)
  const isEmpty = loaded !== undefined && list.length === 0
  const { focused, moves, focusRow, moveBy } = useFocusedRow(list, rows, view)
  const ends = [list[0], list.at(-1)].flatMap((row) => (row === undefined ? [] : view.time(row)))
  const dates = datesOf(ends)
  const height = rowHeight(dates)
  // The one row that Tab reaches.
  const opened = open === '' ? -1 : list.findIndex((row) => view.opens(row) === open)
  const stop = focused >= 0 ? focused : Math.max(opened, 0)
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return
    const row = list[focused]
    const page = pageRows(event, height)
    const step = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page }[event.key]
    if (step === undefined && !(event.key === 'Enter' && row !== undefined)) return
    event.preventDefault()
    if (step !== undefined) moveBy(step)
    else if (row !== undefined) openInDrawer(view.opens(row))
  }
  return (
    <section class={`list ${view.name} dates-${dates}`} aria-label={view.title}>
      <FilterBar view={view} shown={list.length} missing={missing} />
      {problem !== null && !isGone.value && <p class="notice bad">{problem}</p>}
      <div class="columns" aria-hidden="true" hidden={isEmpty}>
        {view.headings.map((heading) => (
          <span key={heading}>{heading}</span>
        ))}
      </div>
      {isEmpty ? (
        <EmptyList view={view} filtered={Object.values(filters).some((value) => value !== '')} />
      ) : (
        <VirtualList
          key={query}
          rows={list}
          height={height}
          label={view.title}
          focused={focused}
          stop={stop}
          moves={moves}
          onKeyDown={onKeyDown}
          missing={missing}
          onMissing={rows.loadMore}
        >
          {(row, index) => (
            <Link
              to={{ open: view.opens(row) }}
              class={`row${index === focused ? ' at' : ''}`}
              current={open === view.opens(row)}
              tabIndex={index === stop ? 0 : -1}
              data-open={view.opens(row)}
              onFocus={() => focusRow(row, 'there')}
            >
              {[<RowTime at={view.time(row)} dates={dates} />, ...view.cells(row)].map((cell, column) => (
                <span key={column} class="cell" onClick={() => focusRow(row)} onPointerEnter={showCutText}>
                  {cell}
                </span>
              ))}
            </Link>
          )}
        </VirtualList>
      )}
    </section>
  )
}

/** Gives a cell whose text is cut its whole text as tooltip. */
function showCutText({ currentTarget: cell }: PointerEvent & { currentTarget: HTMLElement }): void {
  cell.title = cell.scrollWidth > cell.clientWidth ? (cell.textContent ?? '') : ''
}

/** Milliseconds between two reads of a list. */
const REFRESH_MS = 400

/** Reads the rows, keeps them up to date by live messages, and announces new ones. */
function useLiveRows<T extends { id: string }>(view: View<T>, rows: Rows<T>): void {
  const lastNewest = useRef<string | undefined>(undefined)
  // In the layout phase: the first read does not wait for a frame.
  useLayoutEffect(() => {
    const pending = new Map<string, LiveMessage[]>()
    const read = throttled(() => {
      rows.refresh()
      if (pending.size === 0) return
      const messages = new Map(pending)
      pending.clear()
      rows.change((row) =>
        (messages.get(row.id) ?? []).reduce(
          (changed, message) => view.withMessage?.(changed, message) ?? changed,
          row,
        ),
      )
    }, REFRESH_MS)
    read()
    const stop = onLive((message) => {
      const { type } = message
      if (type !== 'return' && type !== 'reset' && !view.follows.includes(type)) return
      const id = view.rowOf?.(message)
      if (id !== undefined) pending.set(id, [...(pending.get(id) ?? []), message])
      read()
    })
    return () => {
      stop()
      rows.end()
    }
  }, [rows])
  const loaded = rows.loaded.value
  const newest = loaded?.end === 'newest' ? loaded.rows[0]?.id : undefined
  useEffect(() => {
    if (lastNewest.current !== undefined && newest !== undefined && newest > lastNewest.current)
      announce(`New ${view.title.toLowerCase()}.`)
    lastNewest.current = newest
  }, [newest])
}

/**
 * Tracks the row with the keyboard focus: `j` and `k` move it from anywhere, arrow keys and page keys from the list. Home
 * and End move it to the newest and oldest row.
 * @returns `focused`, the row's index or -1; `moves`, which grows with each move, also with one to the same row.
 */
function useFocusedRow<T extends { id: string }>(list: readonly T[], rows: Rows<T>, view: View<T>) {
  const [{ id: focusedId, moves }, setFocus] = useState<{ id?: string; moves: number }>({ moves: 0 })
  const focused = focusedId === undefined ? -1 : list.findIndex(({ id }) => id === focusedId)
  const focusRow = ({ id }: T, where: 'move' | 'there' = 'move') =>
    setFocus((last) =>
      where === 'there' && last.id === id ? last : { id, moves: last.moves + (where === 'move' ? 1 : 0) },
    )
  const moveTo = (row: T | undefined) => {
    if (row === undefined) return
    focusRow(row)
    // An open drawer follows the focus.
    if (address.peek().open !== '') go({ open: view.opens(row) }, 'replace')
  }
  const moveBy = (step: number) => moveTo(list[Math.min(Math.max(focused + step, 0), list.length - 1)])
  const jumpTo = (end: End) =>
    rows.goTo(end, (loaded) => {
      moveTo(newestFirst(loaded).at(end === 'newest' ? 0 : -1))
      if (loaded.rows.length > 0) announceNow(`Showing the ${end} ${view.title.toLowerCase()}.`)
    })
  // With each render, so that a second key press sees the result of the first.
  useKeys({
    j: () => moveBy(1),
    k: () => moveBy(-1),
    Home: () => jumpTo('newest'),
    End: () => jumpTo('oldest'),
  })
  return { focused, moves, focusRow, moveBy }
}

/** Returns the number of rows in view, less one that stays in view. */
function pageRows({ currentTarget }: KeyboardEvent, height: number): number {
  const inView = currentTarget instanceof HTMLElement ? currentTarget.clientHeight : 0
  return Math.max(1, Math.floor(inView / height) - 1)
}

/** Stands for an empty list: suggests to clear the filters, or a command that fills the list. */
function EmptyList<T extends { id: string }>({ view, filtered }: { view: View<T>; filtered: boolean }) {
  if (filtered)
    return (
      <div class="empty">
        <h2>No results</h2>
        <p>No {view.title.toLowerCase()} match these filters.</p>
        <button type="button" onClick={() => go({ filters: {} })}>
          Clear filters
        </button>
      </div>
    )
  const { title, text, action: EmptyAction, commands } = view.empty
  return (
    <div class="empty">
      <h2>{title}</h2>
      <p>{text}</p>
      {EmptyAction !== undefined && <EmptyAction />}
      {commands.map((command) => (
        <Command key={command} text={command} />
      ))}
    </div>
  )
}

/** The time of a row in UTC, with its date when the rows of the list are of different days. */
function RowTime({ at, dates }: { at: string; dates: Dates }) {
  return (
    <time class="moment" dateTime={at} title={at}>
      {at.slice({ none: 11, days: 5, years: 0 }[dates], 19).replace('T', ' ')}
    </time>
  )
}

/** Part of the dates that rows show: none when all rows are of the current day. */
type Dates = 'none' | 'days' | 'years'

/** Returns the part of the date in which these times and the service's time differ. */
function datesOf(times: readonly string[]): Dates {
  const all = [...times, new Date(serviceNow.value).toISOString()]
  const differ = (length: number) => new Set(all.map((time) => time.slice(0, length))).size > 1
  if (differ(4)) return 'years'
  return differ(10) ? 'days' : 'none'
}
