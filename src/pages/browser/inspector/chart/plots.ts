import uPlot from 'uplot'
import type { Activity } from '../../../../model/simulator/activity.ts'

/** Pixels. */
const HEIGHT = 92

/** A chart that is drawn once and then shows new data. */
export interface Chart {
  show(activity: Activity): void
  end(): void
}

/** Plots attempts by outcome as stacked bars: the highest sum first, covered by the lower ones. */
export function plotOutcomes(container: HTMLElement): Chart {
  const bars = uPlot.paths.bars?.({ size: [0.8, 24], gap: 1 })
  const stack = (name: string): uPlot.Series => ({
    fill: colourOf(container, name),
    stroke: colourOf(container, name),
    width: 0,
    points: { show: false },
    ...(bars && { paths: bars }),
  })
  const series = [stack('--good'), stack('--wait'), stack('--bad')]
  return plotSeries(container, series, String, ({ buckets }) => [
    buckets.map(({ succeeded, failed, dead }) => succeeded + failed + dead),
    buckets.map(({ failed, dead }) => failed + dead),
    buckets.map(({ dead }) => dead),
  ])
}

/** Plots the median and the 95th percentile of receivers' latencies. */
export function plotLatency(container: HTMLElement): Chart {
  const line = (name: string): uPlot.Series => ({
    stroke: colourOf(container, name),
    width: 1.5,
    spanGaps: true,
    points: { show: false },
  })
  return plotSeries(
    container,
    [line('--ink'), line('--edge')],
    (tick) => `${tick} ms`,
    ({ buckets }) => [buckets.map(({ median_ms }) => median_ms), buckets.map(({ p95_ms }) => p95_ms)],
  )
}

/** Returns a CSS custom property of the container at each drawing, so that a change of the colour scheme shows. */
function colourOf(container: HTMLElement, name: string): () => string {
  return () => getComputedStyle(container).getPropertyValue(name)
}

function plotSeries(
  container: HTMLElement,
  series: readonly uPlot.Series[],
  tickText: (tick: number) => string,
  valuesOf: (activity: Activity) => (number | null)[][],
): Chart {
  let plot: uPlot | undefined
  const size = () => ({ width: Math.max(container.clientWidth, 100), height: HEIGHT })
  const resized = new ResizeObserver(() => plot?.setSize(size()))
  const dark = matchMedia('(prefers-color-scheme: dark)')
  const recolour = () => plot?.redraw()
  resized.observe(container)
  dark.addEventListener('change', recolour)
  return {
    show(activity) {
      const times = activity.buckets.map(({ at }) => Date.parse(at) / 1_000)
      const data: uPlot.AlignedData = [times, ...valuesOf(activity)]
      if (plot === undefined)
        plot = new uPlot(optionsOf(container, series, tickText, size()), data, container)
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
  container: HTMLElement,
  series: readonly uPlot.Series[],
  tickText: (tick: number) => string,
  size: { width: number; height: number },
): uPlot.Options {
  const axis: uPlot.Axis = {
    stroke: colourOf(container, '--faint'),
    ticks: { show: false },
    font: '11px system-ui',
  }
  const grid = { stroke: colourOf(container, '--rule'), width: 1 }
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

/** Returns `18:04` in UTC. */
function timeText(seconds: number): string {
  return new Date(seconds * 1_000).toISOString().slice(11, 16)
}
