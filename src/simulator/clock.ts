import { createMovableClock, type Clock, type MovableClock } from '../clock.ts'
import { createClockFile, initialClockTime } from '../delivery/clock-file.ts'
import type { Bundle } from '../model/simulator/bundle.ts'
import type { Store } from '../store/store.ts'
import { timers } from '../timers.ts'
import type { Settings } from './settings.ts'

/** Default start of a seeded run's clock: an arbitrary time that never changes. */
const SEEDED_START = new Date('2026-01-01T00:00:00.000Z')

/** Opens the service's clock at the stored time; a frozen clock runs again. */
export async function openClock(options: Settings, store: Store): Promise<MovableClock> {
  const { startAt, onNotice = ignore } = options
  if (options.seed !== undefined) {
    const { time, frozen } = freshTime(options)
    return createMovableClock({ start: time, frozen })
  }
  const kept = createClockFile(options.dataDirectory)
  const [newest] = (await store.list('events', { limit: 1 })).data
  const offset = await kept.read()
  const real = new Date(timers.now())
  const start = initialClockTime({ wanted: startAt, offset, newest, now: real })
  if (start?.notice !== undefined) onNotice(start.notice)
  const clock = createMovableClock({ start: start?.time, real })
  if (startAt !== undefined) await kept.save(clock.offsetMs())
  return clock
}

/** Returns the clock settings of a new service. A seeded run starts frozen, so that it is reproducible. */
export function freshTime({ seed, startAt }: Settings) {
  return seed === undefined
    ? { time: startAt, frozen: false }
    : { time: startAt ?? SEEDED_START, frozen: true }
}

/** Returns the clock as bundles have it. A program's own clock counts as frozen. */
export function clockNow(clock: Clock | MovableClock): Bundle['clock'] {
  const now = clock.now().toISOString()
  return 'moveTo' in clock
    ? { now, frozen: clock.isFrozen(), offset_ms: clock.offsetMs() }
    : { now, frozen: true, offset_ms: 0 }
}

/** Returns the measure of durations. In a seeded run nothing may depend on the speed of this machine. */
export function measureOf({
  seed,
  clock,
}: Pick<Settings, 'seed'> & { clock: Clock }): (() => number) | undefined {
  return seed === undefined ? undefined : () => clock.now().getTime()
}

function ignore(): void {}
