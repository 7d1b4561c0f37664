import type { ComponentChildren } from 'preact'
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import {
  defaultRangeExtractor,
  elementScroll,
  observeElementOffset,
  observeElementRect,
  Virtualizer,
  type Range,
} from '@tanstack/virtual-core'
import type { Missing } from '../merge.ts'

interface VirtualListProps<T> {
  rows: readonly T[]
  /** Of a row, in pixels: all are alike, so that nothing need be measured. */
  height: number
  label: string
  /** The row that the keyboard is at; -1 for none. */
  current: number
  /** Grows when the keyboard goes to that row, which is brought into sight and gets the focus. */
  turn: number
  /** Where rows of the list are not loaded yet. */
  missing: Missing
  children: (row: T, index: number) => ComponentChildren
  /** Where they are missing comes into sight. */
  onMissing: () => void
}

/** Rows beyond the edges that are drawn ahead, so that scrolling shows no gaps. */
const OVERSCAN = 12

/** A list of any length, of which only the rows in sight are in the document. */
export function VirtualList<T extends { id: string }>(props: VirtualListProps<T>) {
  const { rows, height, label, current, missing, children } = props
  const scroller = useRef<HTMLDivElement>(null)
  const virtualizer = useVirtualizer(scroller, rows.length, height, current)
  useStillness(scroller, props)
  useFocus(scroller, props, (index) => virtualizer.scrollToIndex(index))
  const items = virtualizer.getVirtualItems()
  useGrowth(scroller, props, virtualizer.range?.startIndex)
  return (
    <div class="scroller" ref={scroller}>
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

function useVirtualizer(scroller: Scroller, count: number, height: number, current: number) {
  const [, redraw] = useState(0)
  const options = {
    count,
    overscan: OVERSCAN,
    estimateSize: () => height,
    // The row that has the focus stays, however far it is scrolled away, or the keys that scroll would lead nowhere.
    rangeExtractor: (range: Range) => {
      const drawn = defaultRangeExtractor(range)
      return current < 0 || drawn.includes(current) ? drawn : [...drawn, current].sort((a, b) => a - b)
    },
    getScrollElement: () => scroller.current,
    scrollToFn: elementScroll,
    observeElementRect,
    observeElementOffset,
    onChange: () => redraw((number) => number + 1),
  }
  const [virtualizer] = useState(() => new Virtualizer<HTMLDivElement, HTMLElement>(options))
  virtualizer.setOptions(options)
  useLayoutEffect(() => virtualizer._didMount(), [])
  useLayoutEffect(() => virtualizer._willUpdate())
  useLayoutEffect(() => virtualizer.measure(), [height])
  return virtualizer
}

type Scroller = Readonly<{ current: HTMLDivElement | null }>
type Drawn = Pick<
  VirtualListProps<{ id: string }>,
  'rows' | 'height' | 'current' | 'turn' | 'missing' | 'onMissing'
>

/** Whoever has scrolled reads on where they are when rows come in above. */
function useStillness(scroller: Scroller, { rows, height, missing }: Drawn): void {
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

/** Brings the row of a new turn into sight, and gives it the focus once it is drawn. */
function useFocus(scroller: Scroller, { current, turn }: Drawn, scrollTo: (index: number) => void): void {
  const last = useRef(turn)
  const isSought = useRef(false)
  useLayoutEffect(() => {
    isSought.current = turn !== last.current && current >= 0
    last.current = turn
    if (isSought.current) scrollTo(current)
  }, [turn])
  useLayoutEffect(() => {
    if (!isSought.current) return
    const row = scroller.current?.querySelector<HTMLElement>(`[data-index="${current}"] a`)
    isSought.current = row === undefined || row === null
    row?.focus({ preventScroll: true })
  })
}

/** Asks for more when where it is missing is nearly in sight; again, where that has failed, when the list is looked at again. */
function useGrowth(scroller: Scroller, { rows, height, missing, onMissing }: Drawn, first?: number): void {
  useEffect(() => {
    const element = scroller.current
    if (element === null || missing === 'nowhere') return
    // As it is by now: what was drawn may have been before the scroller was set to another place.
    const { scrollTop, scrollHeight, clientHeight } = element
    const left = missing === 'above' ? scrollTop : scrollHeight - clientHeight - scrollTop
    if (left < 2 * OVERSCAN * height) onMissing()
  }, [first, rows, missing])
}
