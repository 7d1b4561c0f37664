/** One figure of the table: the measured value and its limit. */
export interface Figure {
  name: string
  value: number
  unit: string
  /** The limit: at least, or at most. */
  target?: { atLeast: number } | { atMost: number }
}

export function isMet({ value, target }: Figure): boolean | undefined {
  if (target === undefined) return undefined
  return 'atLeast' in target ? value >= target.atLeast : value <= target.atMost
}

export function table(figures: readonly Figure[]): string {
  const width = Math.max(...figures.map(({ name }) => name.length))
  return figures.map((figure) => row(figure, width)).join('\n')
}

function row(figure: Figure, width: number): string {
  const { name, value, unit, target } = figure
  const shown = `${value >= 100 ? value.toFixed(0) : value.toFixed(2)} ${unit}`.padStart(16)
  if (target === undefined) return `  ${name.padEnd(width)} ${shown}`
  const goal = 'atLeast' in target ? `at least ${target.atLeast}` : `at most ${target.atMost}`
  return `${isMet(figure) ? '✓' : '✗'} ${name.padEnd(width)} ${shown}   ${goal}`
}
