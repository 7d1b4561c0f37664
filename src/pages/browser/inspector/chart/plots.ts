import uPlot from 'uplot'
import type { Activity } from '../../../../model/simulator/activity.ts'
import { multiples, timeTexts } from './ticks.ts'

/** Pixels. */
const HEIGHT = 104

/** Buckets by which the time axis grows, so that a new bucket rarely moves the others. */
const STEP = 15

/** A chart that is drawn once and then shows new data. */
export interface Chart {
  show(activity: Activity): void
  /** Marks the buckets of a range; `null` marks none. */
  mark(range: BucketRange | null): void
  /** Returns the distance of a bucket's middle from the left edge of the chart, in pixels. */
  middleOf(bucket: number): number
  end(): void
}

/** Buckets by number, from 0; the last one is included. */
export interface BucketRange {
  first: number
  last: number
}

/** Reactions to the pointer on a chart. */
export interface ChartEvents {
  /** The pointer is at a bucket, or has left. */
  onPoint(bucket: number | null): void
  /** The user dragged over these buckets. */
  onSelect(range: BucketRange): void
}

/** Plots attempts by outcome as stacked bars: the highest sum first, covered by the lower ones. */
export function plotOutcomes(container: HTMLElement, events: ChartEvents): Chart {
  const bars = uPlot.paths.bars?.({ size: [0.9, 24], align: 1, gap: 1 })
  const stack = (name: string): uPlot.Series => ({
    fill: colourOf(container, name),
    stroke: colourOf(container, name),
    width: 0,
    points: { show: false },
    ...(bars && { paths: bars }),
  })
  const series = [stack('--good'), stack('--failed'), stack('--bad')]
  return plotSeries(
    container,
    events,
    series,
    (tick) => tick.toLocaleString('en'),
    ({ buckets }) => [
      buckets.map(({ succeeded, failed, dead }) => succeeded + failed + dead),
      buckets.map(({ failed, dead }) => failed + dead),
      buckets.map(({ dead }) => dead),
    ],
  )
}

/** Plots the median and the 95th percentile of receivers' latencies. */
export function plotLatency(container: HTMLElement, events: ChartEvents): Chart {
  const line = (name: string): uPlot.Series => ({
    stroke: colourOf(container, name),
    width: 1.5,
    spanGaps: true,
    points: { show: false },
  })
  return plotSeries(
    container,
    events,
    [line('--ink'), line('--edge')],
    (tick) => `${tick.toLocaleString('en')} ms`,
    ({ buckets }) => [buckets.map(({ median_ms }) => median_ms), buckets.map(({ p95_ms }) => p95_ms)],
  )
}

/** Returns a CSS custom property of the container at each drawing, so that a change of the colour scheme shows. */
function colourOf(container: HTMLElement, name: string): () => string {
  return () => getComputedStyle(container).getPropertyValue(name)
}

function plotSeries(
  container: HTMLElement,
  events: ChartEvents,
  series: readonly uPlot.Series[],
  tickText: (tick: number) => string,
  valuesOf: (activity: Activity) => (number | null)[][],
): Chart {
  let plot: uPlot | undefined
  let shown: Activity | undefined
  let range: [number, number] = [0, 1]
  const size = () => ({ width: Math.max(container.clientWidth, 100), height: HEIGHT })
  const resized = new ResizeObserver(() => plot?.setSize(size()))
  const dark = matchMedia('(prefers-color-scheme: dark)')
  const recolour = () => plot?.redraw()
  resized.observe(container)
  dark.addEventListener('change', recolour)
  const isEmpty = () => (shown?.buckets.length ?? 0) === 0
  /** Returns the bucket at a distance from the left edge of the plotted area. */
  const bucketAt = (left: number): number => {
    if (plot === undefined || shown === undefined) return 0
    const bucket = Math.floor(((plot.posToVal(left, 'x') - startOf(shown)) * 1_000) / shown.bucket_ms)
    return Math.min(Math.max(bucket, 0), shown.buckets.length - 1)
  }
  const leftOf = (bucket: number): number =>
    plot === undefined || shown === undefined
      ? 0
      : plot.valToPos(startOf(shown) + (bucket * shown.bucket_ms) / 1_000, 'x')
  const hooks: uPlot.Hooks.Arrays = {
    setCursor: [({ cursor: { left = -1 } }) => events.onPoint(left < 0 || isEmpty() ? null : bucketAt(left))],
    setSelect: [
      (own) => {
        const { left, width } = own.select
        own.setSelect(nothing, false)
        if (width > 0 && !isEmpty())
          events.onSelect({ first: bucketAt(left), last: bucketAt(left + width - 1) })
      },
    ],
  }
  return {
    show(activity) {
      shown = activity
      // Without attempts, the axis stays where it was.
      if (activity.buckets.length > 0) range = rangeOf(activity)
      const times = activity.buckets.map(({ at }) => Date.parse(at) / 1_000)
      const data: uPlot.AlignedData = [times, ...valuesOf(activity)]
      if (plot === undefined) {
        const axes = axesOf(container, tickText)
        const scales = { x: { range: () => range }, y: { range: yRange } }
        plot = new uPlot(
          { ...look, ...size(), hooks, scales, axes, series: [{}, ...series] },
          data,
          container,
        )
      } else plot.setData(data)
    },
    mark(range) {
      if (plot === undefined) return
      const left = range === null ? 0 : leftOf(range.first)
      const width = range === null ? 0 : leftOf(range.last + 1) - left
      plot.setSelect(
        range === null ? nothing : { left, top: 0, width, height: plot.over.clientHeight },
        false,
      )
    },
    middleOf: (bucket) => (leftOf(bucket) + leftOf(bucket + 1)) / 2 + (plot?.over.offsetLeft ?? 0),
    end() {
      resized.disconnect()
      dark.removeEventListener('change', recolour)
      plot?.destroy()
    },
  }
}

const nothing = { left: 0, top: 0, width: 0, height: 0 }

const look = {
  legend: { show: false },
  cursor: { y: false, points: { show: false }, drag: { x: true, y: false, setScale: false } },
} satisfies Partial<uPlot.Options>

/** Returns the start of the first bucket, in seconds. */
function startOf({ buckets }: Activity): number {
  return Date.parse(buckets[0]?.at ?? '') / 1_000
}

/** Returns the time axis in seconds: whole steps of buckets. */
function rangeOf(activity: Activity): [number, number] {
  const { buckets, bucket_ms } = activity
  const start = startOf(activity)
  return [start, start + (Math.ceil(buckets.length / STEP) * STEP * bucket_ms) / 1_000]
}

/** Returns 0 and the next of 1, 2, 5, 10, …, so that a new value rarely moves the others. */
function yRange(_plot: uPlot, _least: number, most: number | null): [number, number] {
  const wanted = Math.max(most ?? 0, 1)
  const power = 10 ** Math.floor(Math.log10(wanted))
  const top = [1, 2, 5, 10].find((factor) => factor * power >= wanted) ?? 10
  return [0, top * power]
}

/** Distances of ticks on the vertical axis: whole numbers. */
const wholeSteps = Array.from({ length: 10 }, (_, power) =>
  [1, 2, 5].map((factor) => factor * 10 ** power),
).flat()

function axesOf(container: HTMLElement, tickText: (tick: number) => string): uPlot.Axis[] {
  const axis: uPlot.Axis = {
    stroke: colourOf(container, '--faint'),
    ticks: { show: false },
    font: '11px system-ui',
  }
  return [
    {
      ...axis,
      grid: { show: false },
      size: 32,
      space: 64,
      splits: (_plot, _index, least, most, step) => multiples(least, most, step),
      values: (_plot, ticks, _index, _space, step) => timeTexts(ticks, step),
    },
    {
      ...axis,
      grid: { stroke: colourOf(container, '--rule'), width: 1 },
      size: 56,
      space: 24,
      incrs: wholeSteps,
      values: (_plot, ticks) => ticks.map(tickText),
    },
  ]
}
