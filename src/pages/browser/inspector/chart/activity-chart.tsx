import { useEffect, useRef } from 'preact/hooks'
import type { Activity } from '../../../../model/simulator/activity.ts'
import { address } from '../address.tsx'
import { queryText } from '../api.ts'
import { elapsedText } from '../clock.tsx'
import { useRead } from '../live.ts'
import { type Chart, plotLatency, plotOutcomes } from './plots.ts'

/** Milliseconds between two reads; sums need not follow each attempt. */
const REFRESH_MS = 1_000

/** Attempts over time by outcome, and latencies, of the newest deliveries that match the filters. */
export function ActivityChart() {
  const { value: activity } = useRead<Activity>(
    `/deliveries/activity${queryText(address.value.filters)}`,
    REFRESH_MS,
  )
  const isEmpty = activity === undefined || activity.buckets.length === 0
  return (
    <section class="chart" aria-label="Attempts over time" hidden={isEmpty}>
      <Summary activity={activity} />
      <Plot activity={activity} plot={plotOutcomes} title="Attempts" />
      <Plot activity={activity} plot={plotLatency} title="Latency" />
    </section>
  )
}

interface PlotProps {
  activity: Activity | undefined
  plot: (container: HTMLElement) => Chart
  title: string
}

function Plot({ activity, plot, title }: PlotProps) {
  const container = useRef<HTMLDivElement>(null)
  const chart = useRef<Chart | null>(null)
  useEffect(() => {
    if (container.current === null || activity === undefined || activity.buckets.length === 0) return
    chart.current ??= plot(container.current)
    chart.current.show(activity)
  }, [activity])
  useEffect(() => () => chart.current?.end(), [])
  return (
    <div class="plot" ref={container} aria-hidden="true">
      <span class="title">{title}</span>
    </div>
  )
}

/** The chart's totals as text; also the legend of its colours. */
function Summary({ activity }: { activity: Activity | undefined }) {
  if (activity === undefined || activity.buckets.length === 0) return null
  const sum = (name: 'succeeded' | 'failed' | 'dead') =>
    activity.buckets.reduce((total, bucket) => total + bucket[name], 0)
  const { median_ms, p95_ms } = activity
  return (
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
  )
}
