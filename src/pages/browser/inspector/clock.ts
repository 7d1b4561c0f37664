import { computed, signal } from '@preact/signals'
import { ask } from './ask.ts'
import { onNews, throttled } from './news.ts'
import { session } from './session-state.ts'

/** The clock of the service, as `GET /_sim/clock` shows it. */
export interface ClockView {
  now: string
  frozen: boolean
  offset_ms: number
}

const told = signal<{ view: ClockView; at: number } | undefined>(undefined)
const tick = signal(Date.now())

/** Milliseconds since 1970 by the clock of the service: retries fall due by it, and it may stand still, or be far ahead. */
export const serviceNow = computed(() => {
  if (told.value === undefined) return tick.value
  const { view, at } = told.value
  return Date.parse(view.now) + (view.frozen ? 0 : Math.max(0, tick.value - at))
})

export const clock = computed(() => told.value?.view)

let asked = 0

async function readClock(): Promise<void> {
  const turn = ++asked
  const view = await ask<ClockView>('GET', '/clock').catch(() => undefined)
  // One that was overtaken would set the clock back for a moment.
  if (view !== undefined && turn === asked) told.value = { view, at: (tick.value = Date.now()) }
}

/** Nobody is told when a command moves the clock and nothing falls due, so it is asked for now and then. */
const POLL_MS = 2_000

export function startClock(): void {
  const read = throttled(() => void readClock(), 500)
  onNews(read)
  read()
  setInterval(() => (tick.value = Date.now()), 500)
  setInterval(() => {
    if (!document.hidden && typeof session.value !== 'string') read()
  }, POLL_MS)
}
