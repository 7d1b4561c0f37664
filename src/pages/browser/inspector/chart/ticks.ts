/** Returns the multiples of a step in a range: times at whole minutes, hours and days of UTC. */
export function multiples(least: number, most: number, step: number): number[] {
  const first = Math.ceil(least / step)
  return Array.from({ length: Math.floor(most / step) - first + 1 }, (_, index) => (first + index) * step)
}

const DAY = 86_400

/** Returns `18:04` in UTC for each tick in seconds; the first tick of each day has the date below it. */
export function timeTexts(ticks: readonly number[], step: number): string[] {
  return ticks.map((tick, index) => {
    const iso = new Date(tick * 1_000).toISOString()
    const date = iso.slice(5, 10)
    if (step >= DAY) return date
    const time = iso.slice(11, step < 60 ? 19 : 16)
    const before = ticks[index - 1]
    const isFirst = before === undefined || Math.floor(before / DAY) !== Math.floor(tick / DAY)
    return isFirst ? `${time}\n${date}` : time
  })
}
