const unitsMs = { d: 86_400_000, h: 3_600_000, m: 60_000, s: 1_000, ms: 1 } as const

/** A day in milliseconds. */
export const DAY_MS = unitsMs.d

/**
 * Parses a duration such as `1h30m` to milliseconds: whole numbers of d, h, m, s and ms, in this order. Otherwise
 * returns `undefined`.
 */
export function durationMs(text: string): number | undefined {
  const units = Object.keys(unitsMs) as (keyof typeof unitsMs)[]
  // `5m` means minutes, even before `s`; `5ms` never does.
  const parts = units.map((unit) => `(?:(?<${unit}>\\d{1,12})${unit}${unit === 'm' ? '(?!s)' : ''})?`)
  const groups = new RegExp(`^(?=.)${parts.join('')}$`).exec(text)?.groups
  if (groups === undefined) return undefined
  return units.reduce((sum, unit) => sum + Number(groups[unit] ?? 0) * unitsMs[unit], 0)
}

/** The texts that `durationMs` parses, and the empty text, as the pattern of a JSON Schema. */
export const durationPattern = `^${Object.keys(unitsMs)
  .map((unit) => `(\\d{1,12}${unit})?`)
  .join('')}$`

/** Formats milliseconds for `durationMs`: 90000 → `1m30s`. */
export function durationText(ms: number): string {
  let left = ms
  const parts = Object.entries(unitsMs).map(([unit, size]) => {
    const whole = Math.floor(left / size)
    left -= whole * size
    return whole === 0 ? '' : `${whole}${unit}`
  })
  return parts.join('') || '0s'
}

const ISO = /^(\d{4}-\d\d-\d\d)(?:T\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:Z|[+-](?:[01]\d|2[0-3]):?[0-5]\d))?$/

/**
 * Parses an ISO 8601 date, which means 00:00 UTC, or a date and a time of day with Z or an offset. Otherwise returns
 * `undefined`.
 */
export function parseTime(text: string): Date | undefined {
  const [, day] = ISO.exec(text) ?? []
  if (day === undefined) return undefined
  const [time, midnight] = [new Date(text), new Date(day)]
  // JavaScript reads February 30 as March 2.
  const exists = !Number.isNaN(midnight.getTime()) && midnight.toISOString().startsWith(day)
  return exists && !Number.isNaN(time.getTime()) ? time : undefined
}

/** Returns the issue `must end with Z …` for a time of day without Z or an offset; `undefined` for any other text. */
export function localTimeIssue(text: string): string | undefined {
  const utc = `${text.replace(' ', 'T')}Z`
  if (parseTime(utc) === undefined) return undefined
  return `must end with Z or an offset such as +01:00, because local times depend on the machine, got ${JSON.stringify(text)}. Example: ${utc}`
}

/** Formats an ISO time as `2026-11-21 18:04:05`, in UTC. */
export function formatTime(iso: string): string {
  return iso.slice(0, 19).replace('T', ' ')
}

/** Digits of identifiers: Crockford's base 32. */
const DIGITS = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'

/** Digits of an identifier that hold its time, in milliseconds since 1970. */
const TIME_DIGITS = 10

/** Returns the creation time of an identifier such as `dlv_01K9…`, ISO 8601 UTC; lists are sorted by it. */
export function createdAt(id: string): string {
  const start = id.indexOf('_') + 1
  let time = 0
  for (const digit of id.slice(start, start + TIME_DIGITS)) time = time * 32 + DIGITS.indexOf(digit)
  return new Date(time).toISOString()
}
