import {
  defaultRangeExtractor,
  elementScroll,
  observeElementOffset,
  observeElementRect,
  Virtualizer,
  type Range,
} from '@tanstack/virtual-core'
import type { ComponentChildren } from 'preact'
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import type { Missing } from './rows.ts'

interface VirtualListProps<T> {
  rows: readonly T[]
  /** Height of every row in pixels; a fixed height needs no measuring. */
  height: number
  label: string
  /** Index of the row with the keyboard focus, or -1. */
  focused: number
  /** Index of the row that Tab reaches. */
  stop: number
  /** Grows with each move of the focus; the row is then scrolled into view and focused. */
  moves: number
  /** Side on which further rows are not loaded. */
  missing: Missing
  children: (row: T, index: number) => ComponentChildren
  /** Called when that side is nearly in view. */
  onMissing: () => void
  onKeyDown: (event: KeyboardEvent) => void
}

/** Rows rendered beyond the visible edges, so that scrolling shows no gaps. */
const OVERSCAN = 12

/** A list of any length; only the rows in view are in the document. */
export function VirtualList<T extends { id: string }>(props: VirtualListProps<T>) {
  const { rows, height, label, stop, missing, children, onKeyDown } = props
  const scroller = useRef<HTMLDivElement>(null)
  const virtualizer = useVirtualizer(scroller, rows.length, height, stop)
  useStableScroll(scroller, props)
  useFocus(scroller, props, (index) => virtualizer.scrollToIndex(index))
  const items = virtualizer.getVirtualItems()
  useLoadMore(scroller, props, virtualizer.range?.startIndex)
  return (
    <div class="scroller" ref={scroller} onKeyDown={onKeyDown}>
      <div class="rows" role="list" aria-label={label} style={{ height: `${virtualizer.getTotalSize()}px` }}>
        {items.map(({ index, start }) => {
          const row = rows[index]
          return (
            row !== undefined && (
              <div
                key={row.id}
                class="slot"
                role="listitem"
                data-index={index}
                aria-posinset={missing === 'above' ? undefined : index + 1}
                aria-setsize={missing === 'nowhere' ? rows.length : -1}
                style={{ height: `${height}px`, transform: `translateY(${start}px)` }}
              >
                {children(row, index)}
              </div>
            )
          )
        })}
      </div>
    </div>
  )
}

function useVirtualizer(scroller: Scroller, count: number, height: number, stop: number) {
  const [, rerender] = useState(0)
  const options = {
    count,
    overscan: OVERSCAN,
    estimateSize: () => height,
    // The row that Tab reaches stays rendered when it is scrolled away, or the focus would be lost.
    rangeExtractor: (range: Range) => {
      const indexes = defaultRangeExtractor(range)
      if (stop >= count || indexes.includes(stop)) return indexes
      return [...indexes, stop].sort((a, b) => a - b)
    },
    getScrollElement: () => scroller.current,
    scrollToFn: elementScroll,
    observeElementRect,
    observeElementOffset,
    onChange: () => rerender((number) => number + 1),
  }
  const [virtualizer] = useState(() => new Virtualizer<HTMLDivElement, HTMLElement>(options))
  virtualizer.setOptions(options)
  useLayoutEffect(() => virtualizer._didMount(), [])
  useLayoutEffect(() => virtualizer._willUpdate())
  useLayoutEffect(() => virtualizer.measure(), [height])
  return virtualizer
}

type Scroller = Readonly<{ current: HTMLDivElement | null }>
type ScrollProps = Pick<
  VirtualListProps<{ id: string }>,
  'rows' | 'height' | 'focused' | 'moves' | 'missing' | 'onMissing'
>

/** Keeps the rows in view in place when rows are added above them. */
function useStableScroll(scroller: Scroller, { rows, height, missing }: ScrollProps): void {
  const first = useRef(rows[0]?.id)
  const grewAbove = useRef(false)
  useLayoutEffect(() => {
    const element = scroller.current
    const added = rows.findIndex(({ id }) => id === first.current)
    if (element !== null && added > 0 && (element.scrollTop > 0 || grewAbove.current))
      element.scrollTop += added * height
    first.current = rows[0]?.id
    grewAbove.current = missing === 'above'
  }, [rows])
}

/** After each move, scrolls the row into view and focuses it once it is rendered. */
function useFocus(
  scroller: Scroller,
  { focused, moves }: ScrollProps,
  scrollTo: (index: number) => void,
): void {
  const last = useRef(moves)
  const isPending = useRef(false)
  useLayoutEffect(() => {
    isPending.current = moves !== last.current && focused >= 0
    last.current = moves
    if (isPending.current) scrollTo(focused)
  }, [moves])
  useLayoutEffect(() => {
    if (!isPending.current) return
    const row = scroller.current?.querySelector<HTMLElement>(`[data-index="${focused}"] a`)
    isPending.current = row === undefined || row === null
    row?.focus({ preventScroll: true })
  })
}

/** Loads more rows when the side on which they are missing is nearly in view; a failed load is repeated with the next refresh. */
function useLoadMore(
  scroller: Scroller,
  { rows, height, missing, onMissing }: ScrollProps,
  first?: number,
): void {
  useEffect(() => {
    const element = scroller.current
    if (element === null || missing === 'nowhere') return
    // Reads the current position: the rendered range may be older than the last scroll.
    const { scrollTop, scrollHeight, clientHeight } = element
    const left = missing === 'above' ? scrollTop : scrollHeight - clientHeight - scrollTop
    if (left < 2 * OVERSCAN * height) onMissing()
  }, [first, rows, missing])
}
