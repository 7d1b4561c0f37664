import { useEffect, useRef } from 'preact/hooks'
import type { Activity } from '../../../../model/simulator/activity.ts'
import { address } from '../address.ts'
import { queryText } from '../ask.ts'
import { drawLatency, drawOutcomes, type Chart } from './draw.ts'
import { tookText } from '../time-text.ts'
import { useAsked } from '../use-asked.ts'

/** Milliseconds between two looks: the chart sums up, and need not follow each attempt. */
const REFRESH_MS = 1_000

/** Attempts over time by outcome, and how long receivers took: of the newest deliveries that the filters show. */
export function ActivityChart() {
  const { value: activity } = useAsked<Activity>(
    `/deliveries/activity${queryText(address.value.filters)}`,
    REFRESH_MS,
  )
  const isEmpty = activity === undefined || activity.buckets.length === 0
  return (
    <section class="chart" aria-label="Attempts over time" hidden={isEmpty}>
      <Summary activity={activity} />
      <Plot activity={activity} draw={drawOutcomes} title="Attempts" />
      <Plot activity={activity} draw={drawLatency} title="Latency" />
    </section>
  )
}

interface PlotProps {
  activity: Activity | undefined
  draw: (place: HTMLElement) => Chart
  title: string
}

function Plot({ activity, draw, title }: PlotProps) {
  const place = useRef<HTMLDivElement>(null)
  const chart = useRef<Chart | null>(null)
  useEffect(() => {
    if (place.current === null || activity === undefined || activity.buckets.length === 0) return
    chart.current ??= draw(place.current)
    chart.current.show(activity)
  }, [activity])
  useEffect(() => () => chart.current?.end(), [])
  return (
    <div class="plot" ref={place} aria-hidden="true">
      <span class="title">{title}</span>
    </div>
  )
}

/** The chart in words and numbers, which also says what its colours mean. */
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
        <dd>{median_ms === null ? '–' : tookText(median_ms)}</dd>
      </div>
      <div class="latency">
        <dt>p95</dt>
        <dd>{p95_ms === null ? '–' : tookText(p95_ms)}</dd>
      </div>
    </dl>
  )
}
