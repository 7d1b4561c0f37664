import { computed, type ReadonlySignal, signal } from '@preact/signals'
import type { ClockView } from '../../../model/simulator/playback.ts'
import { callApi, session } from './api.ts'
import { onLive, publishReturn, throttled } from './live.ts'

const lastRead = signal<{ view: ClockView; at: number } | undefined>(undefined)
const tick = signal(Date.now())

/** Real time in milliseconds since 1970, updated twice a second. */
export const realNow = computed(() => tick.value)

export const clock = computed(() => lastRead.value?.view)

/** The service's time in milliseconds since 1970. It may be frozen or far ahead; retries fall due by it. */
export const serviceNow = computed(() => {
  if (lastRead.value === undefined) return tick.value
  const { view, at } = lastRead.value
  // A move holds the clock at each due time.
  const stands = view.frozen || view.moving !== null
  return Date.parse(view.now) + (stands ? 0 : Math.max(0, tick.value - at))
})

/** Milliseconds between two reads: a command that moves the clock sends no live message when nothing falls due. */
const POLL_MS = 2_000

/** Milliseconds between two reads of everything shown: some calls below `/_sim`, such as faults, send no live message. */
const REFRESH_MS = 5_000

/** Reads the clock every {@link POLL_MS}, after live messages, and twice a second during a move. */
export function startClock(pending: ReadonlySignal<number>): void {
  const read = throttled(() => readClock().catch(() => undefined), 500)
  onLive(read)
  read()
  setInterval(() => {
    tick.value = Date.now()
    if (pending.value > 0 || (clock.value?.moving ?? null) !== null) read()
  }, 500)
  setInterval(() => {
    if (!document.hidden && typeof session.value !== 'string') read()
  }, POLL_MS)
  setInterval(() => {
    if (!document.hidden && typeof session.value !== 'string') publishReturn()
  }, REFRESH_MS)
}

let started = 0

/** Reads the clock and shows it. */
export async function readClock(): Promise<ClockView> {
  const number = ++started
  const view = await callApi<ClockView>('GET', '/clock')
  // An overtaken read would briefly set the clock back.
  if (number === started) lastRead.value = { view, at: (tick.value = Date.now()) }
  return view
}

/** A time in UTC; the tooltip has the full ISO time. */
export function Time({ at }: { at: string }) {
  return (
    <time class="moment" dateTime={at} title={at}>
      {timeText(at, serviceNow.value)}
    </time>
  )
}

/** A countdown to a time of the service clock. */
export function Countdown({ to }: { to: string }) {
  const left = Date.parse(to) - serviceNow.value
  return (
    <time dateTime={to} title={to}>
      {left < 1_000 ? 'now' : `in ${countdownText(left)}`}
    </time>
  )
}

const SECOND = 1_000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

/** Returns `18:04:05` for an ISO time, in UTC; with month and day when they differ from those of `now`. */
export function timeText(iso: string, now: number): string {
  const time = iso.slice(11, 19)
  return iso.slice(0, 10) === new Date(now).toISOString().slice(0, 10) ? time : `${iso.slice(5, 10)} ${time}`
}

/** Returns the text of remaining milliseconds: `4:32`, `7 h 12 min`, `2 d 3 h`; `now` below one second. */
export function countdownText(ms: number): string {
  if (ms < SECOND) return 'now'
  if (ms < HOUR)
    return `${Math.floor(ms / MINUTE)}:${String(Math.floor((ms % MINUTE) / SECOND)).padStart(2, '0')}`
  if (ms < DAY) return `${Math.floor(ms / HOUR)} h ${Math.floor((ms % HOUR) / MINUTE)} min`
  return `${Math.floor(ms / DAY)} d ${Math.floor((ms % DAY) / HOUR)} h`
}

/** Returns the text of a duration: `0.4 ms`, `12 ms`, `1.2 s`. */
export function elapsedText(ms: number): string {
  if (ms < 10) return `${Number(ms.toFixed(1))} ms`
  return ms < SECOND ? `${Math.round(ms)} ms` : `${(ms / SECOND).toFixed(1)} s`
}
