const unitsMs = { d: 86_400_000, h: 3_600_000, m: 60_000, s: 1_000, ms: 1 } as const

/** `1h30m` in milliseconds; `undefined` when the text is not a duration of whole numbers of d, h, m, s and ms, in this order. */
export function durationMs(text: string): number | undefined {
  const units = Object.keys(unitsMs) as (keyof typeof unitsMs)[]
  // `5m` are minutes also before `s`; `5ms` never are.
  const parts = units.map((unit) => `(?:(?<${unit}>\\d{1,12})${unit}${unit === 'm' ? '(?!s)' : ''})?`)
  const groups = new RegExp(`^(?=.)${parts.join('')}$`).exec(text)?.groups
  if (groups === undefined) return undefined
  return units.reduce((sum, unit) => sum + Number(groups[unit] ?? 0) * unitsMs[unit], 0)
}

/** 90000 → `1m30s`, in the words that `durationMs` reads. */
export function durationText(ms: number): string {
  let left = ms
  const parts = Object.entries(unitsMs).map(([unit, size]) => {
    const whole = Math.floor(left / size)
    left -= whole * size
    return whole === 0 ? '' : `${whole}${unit}`
  })
  return parts.join('') || '0s'
}

/** Formats an ISO time as `2026-11-21 18:04:05`, in UTC. */
export function formatTime(iso: string): string {
  return iso.slice(0, 19).replace('T', ' ')
}
