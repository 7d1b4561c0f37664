const SECOND = 1_000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

/** `18:04:05` of an ISO time, UTC; with the day when that is another one than `now` is. */
export function momentText(iso: string, now: number): string {
  const time = iso.slice(11, 19)
  return iso.slice(0, 10) === new Date(now).toISOString().slice(0, 10) ? time : `${iso.slice(5, 10)} ${time}`
}

/** How long until then: `4:32`, `7 h 12 min`, `2 d 3 h`; `now` when it has come. */
export function countdownText(ms: number): string {
  if (ms < SECOND) return 'now'
  if (ms < HOUR)
    return `${Math.floor(ms / MINUTE)}:${String(Math.floor((ms % MINUTE) / SECOND)).padStart(2, '0')}`
  if (ms < DAY) return `${Math.floor(ms / HOUR)} h ${Math.floor((ms % HOUR) / MINUTE)} min`
  return `${Math.floor(ms / DAY)} d ${Math.floor((ms % DAY) / HOUR)} h`
}

/** `0.4 ms`, `12 ms`, `1.2 s`: how long something took. */
export function tookText(ms: number): string {
  if (ms < 10) return `${Number(ms.toFixed(1))} ms`
  return ms < SECOND ? `${Math.round(ms)} ms` : `${(ms / SECOND).toFixed(1)} s`
}
