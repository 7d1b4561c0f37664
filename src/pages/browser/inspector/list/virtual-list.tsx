import type { ComponentChildren } from 'preact'
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { elementScroll, observeElementOffset, observeElementRect, Virtualizer } from '@tanstack/virtual-core'

interface VirtualListProps<T> {
  rows: readonly T[]
  /** Of a row, in pixels: all are alike, so that nothing need be measured. */
  height: number
  label: string
  /** The row that the keyboard is at; -1 for none. */
  current: number
  children: (row: T, index: number) => ComponentChildren
  /** The end comes into sight. */
  onEnd: () => void
}

/** Rows beyond the edges that are drawn ahead, so that scrolling shows no gaps. */
const OVERSCAN = 12

/** A list of any length, of which only the rows in sight are in the document. */
export function VirtualList<T extends { id: string }>(props: VirtualListProps<T>) {
  const { rows, height, label, current, children, onEnd } = props
  const scroller = useRef<HTMLDivElement>(null)
  const virtualizer = useVirtualizer(scroller, rows.length, height)
  useStillness(scroller, rows, height)
  const items = virtualizer.getVirtualItems()
  const last = items.at(-1)?.index ?? -1
  useEffect(() => {
    if (last >= rows.length - OVERSCAN) onEnd()
  }, [last, rows.length])
  useEffect(() => {
    if (current < 0) return
    virtualizer.scrollToIndex(current)
    // Drawn by the next frame, and only then there to be focused.
    const frame = requestAnimationFrame(() =>
      scroller.current
        ?.querySelector<HTMLElement>(`[data-index="${current}"] a`)
        ?.focus({ preventScroll: true }),
    )
    return () => cancelAnimationFrame(frame)
  }, [current])
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
                aria-posinset={index + 1}
                aria-setsize={rows.length}
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

function useVirtualizer(scroller: { current: HTMLDivElement | null }, count: number, height: number) {
  const [, redraw] = useState(0)
  const options = {
    count,
    overscan: OVERSCAN,
    estimateSize: () => height,
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

/** Whoever has scrolled reads on where they are when rows come in above. */
function useStillness(
  scroller: { current: HTMLDivElement | null },
  rows: readonly { id: string }[],
  height: number,
): void {
  const first = useRef(rows[0]?.id)
  useLayoutEffect(() => {
    const element = scroller.current
    const added = rows.findIndex(({ id }) => id === first.current)
    if (element !== null && element.scrollTop > 0 && added > 0) element.scrollTop += added * height
    first.current = rows[0]?.id
  }, [rows])
}
