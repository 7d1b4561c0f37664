import { createMovableClock, type Clock, type MovableClock } from '../clock.ts'
import { createClockFile, initialClockTime } from '../delivery/clock-file.ts'
import type { Store } from '../store/store.ts'
import { timers } from '../timers.ts'
import type { Settings } from './settings.ts'

/** Where the clock of a seeded run stands, unless said otherwise: any time will do that never changes. */
const SEEDED_START = new Date('2026-01-01T00:00:00.000Z')

/** The service's own clock, which goes on where it was left (a frozen one runs again). */
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

/** Where the clock of a fresh service is: that of a seeded run stands still, or nothing could be repeated. */
export function freshTime({ seed, startAt }: Settings) {
  return seed === undefined
    ? { time: startAt, frozen: false }
    : { time: startAt ?? SEEDED_START, frozen: true }
}

/** Nothing of a seeded run may depend on how quick this machine is. */
export function measureOf({
  seed,
  clock,
}: Pick<Settings, 'seed'> & { clock: Clock }): (() => number) | undefined {
  return seed === undefined ? undefined : () => clock.now().getTime()
}

function ignore(): void {}
