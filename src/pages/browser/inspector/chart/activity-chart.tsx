import { useEffect, useRef, useState } from 'preact/hooks'
import type { Activity } from '../../../../model/simulator/activity.ts'
import { address, go } from '../address.tsx'
import { queryText } from '../api.ts'
import { elapsedText } from '../clock.tsx'
import { useRead } from '../live.ts'
import { type BucketRange, type Chart, type ChartEvents, plotLatency, plotOutcomes } from './plots.ts'

/** Buckets that are pointed at, and whether by keys. */
interface Pointed extends BucketRange {
  /** The bucket from which keys extend the range. */
  anchor: number
  on: 'keys' | 'Attempts' | 'Latency'
}

/** Attempts over time by outcome, and latencies, of all deliveries that match the filters. */
export function ActivityChart() {
  const { filters } = address.value
  const activity = useRead<Activity>(`/deliveries/activity${queryText(filters)}`, REFRESH_MS).value
  const [pointed, setPointed] = useState<Pointed | null>(null)
  const wasShown = useRef(false)
  const count = activity?.buckets.length ?? 0
  // The first attempt shows the chart. A filter that matches no attempt does not hide it, or the list would jump.
  wasShown.current = count > 0 || (wasShown.current && Object.values(filters).some((value) => value !== ''))
  const select = (range: BucketRange) => {
    setPointed(null)
    if (activity !== undefined) go({ filters: { ...address.peek().filters, ...timesOf(activity, range) } })
  }
  const eventsOf = (on: 'Attempts' | 'Latency'): ChartEvents => ({
    onPoint: (bucket) =>
      setPointed((last) => {
        if (bucket === null) return last?.on === on ? null : last
        return last?.on === on && last.first === bucket
          ? last
          : { first: bucket, last: bucket, anchor: bucket, on }
      }),
    onSelect: select,
  })
  const text = activity === undefined || pointed === null ? '' : rangeText(activity, pointed)
  const onKeyDown = (event: KeyboardEvent) => {
    const next = pointedByKey(event, pointed, count)
    if (next === undefined && event.key !== 'Enter') return
    event.preventDefault()
    if (next !== undefined) setPointed(next)
    else if (pointed !== null) select(pointed)
  }
  const plots = { activity, pointed, text }
  return (
    <section class="chart" aria-label="Attempts over time" hidden={!wasShown.current}>
      <Summary activity={activity} filters={filters} />
      <div
        class="plots"
        role="slider"
        tabIndex={0}
        aria-label="Time range. Arrow keys move, Shift extends, Enter filters."
        aria-valuemin={0}
        aria-valuemax={Math.max(count - 1, 0)}
        aria-valuenow={pointed?.last ?? Math.max(count - 1, 0)}
        aria-valuetext={text === '' ? 'No time selected' : text.replaceAll('\n', ', ')}
        onKeyDown={onKeyDown}
        onBlur={() => setPointed(null)}
      >
        <Plot {...plots} plot={plotOutcomes} events={eventsOf('Attempts')} title="Attempts" />
        <Plot {...plots} plot={plotLatency} events={eventsOf('Latency')} title="Latency" />
      </div>
    </section>
  )
}

/** Returns the buckets after a key, `null` for none, and `undefined` for a key without a meaning. */
function pointedByKey(
  { key, shiftKey }: KeyboardEvent,
  pointed: Pointed | null,
  count: number,
): Pointed | null | undefined {
  if (key === 'Escape') return pointed === null ? undefined : null
  const newest = count - 1
  const cursor =
    pointed === null ? newest + 1 : pointed.first === pointed.anchor ? pointed.last : pointed.first
  const to = { ArrowLeft: cursor - 1, ArrowRight: cursor + 1, Home: 0, End: newest }[key]
  if (to === undefined || count === 0) return undefined
  const at = Math.min(Math.max(to, 0), newest)
  const anchor = shiftKey && pointed !== null ? pointed.anchor : at
  return { first: Math.min(at, anchor), last: Math.max(at, anchor), anchor, on: 'keys' }
}

/** Least milliseconds between two reads; sums need not follow each attempt. */
const REFRESH_MS = 1_000

interface PlotProps {
  activity: Activity | undefined
  pointed: Pointed | null
  text: string
  plot: (container: HTMLElement, events: ChartEvents) => Chart
  events: ChartEvents
  title: 'Attempts' | 'Latency'
}

function Plot({ activity, pointed, text, plot, events, title }: PlotProps) {
  const container = useRef<HTMLDivElement>(null)
  const chart = useRef<Chart | null>(null)
  const current = useRef(events)
  current.current = events
  useEffect(() => {
    if (container.current === null || activity === undefined) return
    if (chart.current === null && activity.buckets.length === 0) return
    chart.current ??= plot(container.current, {
      onPoint: (bucket) => current.current.onPoint(bucket),
      onSelect: (range) => current.current.onSelect(range),
    })
    chart.current.show(activity)
  }, [activity])
  useEffect(() => () => chart.current?.end(), [])
  const byKeys = pointed?.on === 'keys'
  useEffect(() => chart.current?.mark(byKeys ? pointed : null), [byKeys, pointed, activity])
  const isHere = pointed?.on === title || (byKeys && title === 'Attempts')
  return (
    <div class="plot" ref={container} aria-hidden="true">
      <span class="title">{title}</span>
      {isHere && chart.current !== null && (
        <Tooltip text={text} at={chart.current.middleOf(pointed.last)} within={container.current} />
      )}
    </div>
  )
}

function Tooltip({ text, at, within }: { text: string; at: number; within: HTMLElement | null }) {
  const isRight = at > (within?.clientWidth ?? 0) / 2
  return (
    <div class={`tooltip${isRight ? ' before' : ''}`} style={{ left: `${at}px` }}>
      {text}
    </div>
  )
}

/** The chart's totals as text; also the legend of its colours. */
function Summary({
  activity,
  filters: { from = '', to = '' },
}: {
  activity: Activity | undefined
  filters: Readonly<Record<string, string>>
}) {
  const sum = (name: 'succeeded' | 'failed' | 'dead') =>
    activity?.buckets.reduce((total, bucket) => total + bucket[name], 0) ?? 0
  const { median_ms = null, p95_ms = null, deliveries = 0 } = activity ?? {}
  return (
    <div class="summary">
      <dl class="sums">
        {(['succeeded', 'failed', 'dead'] as const).map((name) => (
          <div key={name} class={name}>
            <dt>{name}</dt>
            <dd>{sum(name).toLocaleString('en')}</dd>
          </div>
        ))}
        <div class="latency">
          <dt>median</dt>
          <dd>{median_ms === null ? '–' : elapsedText(median_ms)}</dd>
        </div>
        <div class="latency">
          <dt>p95</dt>
          <dd>{p95_ms === null ? '–' : elapsedText(p95_ms)}</dd>
        </div>
      </dl>
      <p class="quiet">
        {from === '' && to === '' ? (
          `Attempts of ${deliveries.toLocaleString('en')} ${deliveries === 1 ? 'delivery' : 'deliveries'}`
        ) : (
          <button
            type="button"
            onClick={() => go({ filters: { ...address.peek().filters, from: '', to: '' } })}
          >
            Show all times
          </button>
        )}
      </p>
    </div>
  )
}

/** Returns the times of a range of buckets as filters: `from` is included, `to` is not. */
function timesOf(activity: Activity, { first, last }: BucketRange): { from: string; to: string } {
  const { buckets, bucket_ms } = activity
  const end = Date.parse(buckets[last]?.at ?? '') + bucket_ms
  return { from: buckets[first]?.at ?? '', to: new Date(end).toISOString() }
}

/** Returns the times, the counts and the latencies of a range of buckets, one per line. */
function rangeText(activity: Activity, range: BucketRange): string {
  const { first, last } = range
  if (activity.buckets[last] === undefined) return ''
  const { from, to } = timesOf(activity, range)
  const within = activity.buckets.slice(first, last + 1)
  const sum = (name: 'succeeded' | 'failed' | 'dead') =>
    within.reduce((total, bucket) => total + bucket[name], 0).toLocaleString('en')
  const isSameDay = from.slice(0, 10) === to.slice(0, 10)
  const lines = [
    `${dayAndTime(from)} to ${isSameDay ? to.slice(11, 19) : dayAndTime(to)} UTC`,
    `${sum('succeeded')} succeeded, ${sum('failed')} failed, ${sum('dead')} dead`,
  ]
  const [{ median_ms, p95_ms } = { median_ms: null, p95_ms: null }] = within
  if (first === last && median_ms !== null && p95_ms !== null)
    lines.push(`median ${elapsedText(median_ms)}, p95 ${elapsedText(p95_ms)}`)
  return lines.join('\n')
}

function dayAndTime(iso: string): string {
  return `${iso.slice(5, 10)} ${iso.slice(11, 19)}`
}
