import { useEffect, useMemo, useRef } from 'preact/hooks'
import { address } from '../address.ts'
import { announce } from '../announce.tsx'
import { queryText } from '../ask.ts'
import { Link } from '../link.tsx'
import { missingIn, newestFirst } from '../merge.ts'
import { onNews, throttled, type News } from '../news.ts'
import { isNarrow } from '../narrow.ts'
import { createRows, type Rows } from '../rows.ts'
import { EmptyList } from './empty-list.tsx'
import { FilterBar } from './filter-bar.tsx'
import type { View } from './view.ts'
import { VirtualList } from './virtual-list.tsx'
import { useWalk } from './walk.ts'

/** Milliseconds between two looks at a list in which much happens. */
const REFRESH_MS = 400

/** A list with its filters, which goes on by itself and can be walked by keyboard. */
export function ListView<T extends { id: string }>({ view }: { view: View<T> }) {
  const { filters, open } = address.value
  const query = queryText({ ...view.fixed, ...filters })
  const rows = useMemo(() => createRows<T>(view.path + query), [view.path, query])
  useRows(view, rows)
  const loaded = rows.loaded.value
  const problem = rows.problem.value
  const list = useMemo(() => (loaded === undefined ? [] : newestFirst(loaded)), [loaded])
  const missing = missingIn(loaded)
  const isEmpty = loaded !== undefined && list.length === 0
  const { current, turn, goTo } = useWalk(list, rows, view)
  return (
    <section class={`list ${view.name}`} aria-label={view.title}>
      <FilterBar view={view} shown={list.length} missing={missing} />
      {problem !== null && <p class="notice bad">{problem}</p>}
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
          height={isNarrow.value ? 64 : 36}
          label={view.title}
          current={current}
          turn={turn}
          missing={missing}
          onMissing={rows.loadMore}
        >
          {(row, index) => (
            <Link
              to={{ open: view.opens(row) }}
              class={`row${index === current ? ' at' : ''}`}
              current={open === view.opens(row)}
            >
              {view.cells(row).map((cell, column) => (
                <span key={column} class="cell" onClick={() => goTo(row)}>
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

/** Loads the list, and keeps it like what the service has. */
function useRows<T extends { id: string }>(view: View<T>, rows: Rows<T>): void {
  const known = useRef<string | undefined>(undefined)
  useEffect(() => {
    const changes = new Map<string, News[]>()
    const look = throttled(() => {
      rows.refresh()
      if (changes.size === 0) return
      const told = new Map(changes)
      changes.clear()
      rows.change((row) =>
        (told.get(row.id) ?? []).reduce((now, news) => view.changed?.(now, news) ?? now, row),
      )
    }, REFRESH_MS)
    look()
    const stop = onNews((news) => {
      if (news.type !== 'return' && news.type !== 'reset' && !view.follows.includes(news.type)) return
      const id = view.concerns?.(news)
      if (id !== undefined) changes.set(id, [...(changes.get(id) ?? []), news])
      look()
    })
    return () => {
      stop()
      rows.end()
    }
  }, [rows])
  const loaded = rows.loaded.value
  const newest = loaded?.end === 'newest' ? loaded.rows[0]?.id : undefined
  useEffect(() => {
    if (known.current !== undefined && newest !== undefined && newest > known.current)
      announce(`News in ${view.title}.`)
    known.current = newest
  }, [newest])
}
