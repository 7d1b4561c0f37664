import uPlot from 'uplot'
import type { Activity } from '../../../../model/simulator/activity.ts'

/** In pixels. */
const HEIGHT = 92

/** A chart in its place, which is shown other numbers as they come. */
export interface Chart {
  show(activity: Activity): void
  end(): void
}

/** How many attempts ended how. Stacked: each series is drawn from the ground up to the sum of those below it, the highest first. */
export function drawOutcomes(place: HTMLElement): Chart {
  const bars = uPlot.paths.bars?.({ size: [0.8, 24], gap: 1 })
  const stack = (name: string): uPlot.Series => ({
    fill: colourOf(place, name),
    stroke: colourOf(place, name),
    width: 0,
    points: { show: false },
    ...(bars && { paths: bars }),
  })
  const series = [stack('--good'), stack('--wait'), stack('--bad')]
  return draw(place, series, String, ({ buckets }) => [
    buckets.map(({ succeeded, failed, dead }) => succeeded + failed + dead),
    buckets.map(({ failed, dead }) => failed + dead),
    buckets.map(({ dead }) => dead),
  ])
}

/** How long receivers took: half of them at most the lower line, all but a twentieth the upper one. */
export function drawLatency(place: HTMLElement): Chart {
  const line = (name: string): uPlot.Series => ({
    stroke: colourOf(place, name),
    width: 1.5,
    spanGaps: true,
    points: { show: false },
  })
  return draw(
    place,
    [line('--ink'), line('--edge')],
    (tick) => `${tick} ms`,
    ({ buckets }) => [buckets.map(({ median_ms }) => median_ms), buckets.map(({ p95_ms }) => p95_ms)],
  )
}

/** Colours are read when the chart is drawn, from where the style has them. */
function colourOf(place: HTMLElement, name: string): () => string {
  return () => getComputedStyle(place).getPropertyValue(name)
}

function draw(
  place: HTMLElement,
  series: readonly uPlot.Series[],
  tickText: (tick: number) => string,
  valuesOf: (activity: Activity) => (number | null)[][],
): Chart {
  let plot: uPlot | undefined
  const size = () => ({ width: Math.max(place.clientWidth, 100), height: HEIGHT })
  const resized = new ResizeObserver(() => plot?.setSize(size()))
  const dark = matchMedia('(prefers-color-scheme: dark)')
  const recolour = () => plot?.redraw()
  resized.observe(place)
  dark.addEventListener('change', recolour)
  return {
    show(activity) {
      const times = activity.buckets.map(({ at }) => Date.parse(at) / 1_000)
      const data: uPlot.AlignedData = [times, ...valuesOf(activity)]
      if (plot === undefined) plot = new uPlot(optionsOf(place, series, tickText, size()), data, place)
      else plot.setData(data)
    },
    end() {
      resized.disconnect()
      dark.removeEventListener('change', recolour)
      plot?.destroy()
    },
  }
}

function optionsOf(
  place: HTMLElement,
  series: readonly uPlot.Series[],
  tickText: (tick: number) => string,
  size: { width: number; height: number },
): uPlot.Options {
  const axis: uPlot.Axis = {
    stroke: colourOf(place, '--faint'),
    ticks: { show: false },
    font: '11px system-ui',
  }
  const grid = { stroke: colourOf(place, '--rule'), width: 1 }
  return {
    ...size,
    legend: { show: false },
    cursor: { show: false },
    scales: { y: { range: (_plot, _least, most) => [0, Math.max(most || 0, 1) * 1.05] } },
    series: [{}, ...series],
    axes: [
      { ...axis, grid: { show: false }, size: 20, space: 64, values: (_plot, ticks) => ticks.map(timeText) },
      { ...axis, grid, size: 52, space: 24, values: (_plot, ticks) => ticks.map(tickText) },
    ],
  }
}

/** In UTC, as everywhere. */
function timeText(seconds: number): string {
  return new Date(seconds * 1_000).toISOString().slice(11, 16)
}
