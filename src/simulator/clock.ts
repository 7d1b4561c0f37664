import {
  type Clock,
  type ClockSetting,
  createMovableClock,
  isMovable,
  type MovableClock,
  timeOf,
} from '../clock.ts'
import { createClockFile, initialClockTime } from '../delivery/clock-file.ts'
import { CLOCK, initialValue } from '../delivery/shared-clock.ts'
import type { Bundle } from '../model/simulator/bundle.ts'
import type { SharedValues } from '../store/shared-values.ts'
import type { Store } from '../store/store.ts'
import { timers } from '../timers.ts'
import type { Parts } from './parts.ts'
import type { Settings } from './settings.ts'

/** Default start of a seeded run's clock: an arbitrary time that never changes. */
const SEEDED_START = new Date('2026-01-01T00:00:00.000Z')

/** Opens the service's clock at the stored time, frozen if it was frozen. */
export async function openClock(options: Settings, { store, values, shared }: Stored): Promise<MovableClock> {
  const { startAt, onNotice } = options
  if (options.seed !== undefined) {
    const { time, frozen } = resetTarget({ ...options, values, shared })
    return createMovableClock({ start: time, frozen })
  }
  if (shared !== undefined) return openSharedClock(options, store, values)
  const kept = createClockFile(options.dataDirectory)
  const [newest] = (await store.list('events', { limit: 1 })).data
  const stored = await kept.read()
  const real = new Date(timers.now())
  const start = initialClockTime({ wanted: startAt, stored, newest, now: real })
  if (start?.notice !== undefined) onNotice(start.notice)
  const clock = createMovableClock({ start: start?.time, real, frozen: start?.frozen ?? false })
  if (startAt !== undefined) await kept.save(clock.offsetMs())
  return clock
}

type Stored = Pick<Parts, 'store' | 'values' | 'shared'>

/** Opens the clock of a sandbox. Its first instance sets it; the later ones follow it, also when it is frozen. */
async function openSharedClock(
  { startAt, onNotice }: Settings,
  store: Store,
  values: SharedValues,
): Promise<MovableClock> {
  const [newest] = (await store.list('events', { limit: 1 })).data
  const real = new Date(timers.now())
  const start = initialClockTime({ wanted: startAt, stored: undefined, newest, now: real })
  const clock = createMovableClock({ start: start?.time, real })
  const first = initialValue(clock.setting())
  const { setting, isNew } = await values.update(CLOCK, (value) => ({
    value: value ?? first,
    reply: { setting: (value ?? first) as object as ClockSetting, isNew: value === undefined },
  }))
  clock.apply(setting)
  if (isNew) await values.update(START, () => ({ value: startAt?.toISOString() ?? null, reply: undefined }))
  const notice = isNew ? start?.notice : continuing(setting, startAt)
  if (notice !== undefined) onNotice(notice)
  return clock
}

function continuing(setting: ClockSetting, startAt: Date | undefined): string | undefined {
  const shown = new Date(timeOf(setting)).toISOString()
  if (startAt !== undefined)
    return `The clock of the sandbox shows ${shown}. --clock has no effect, because it sets the clock of a new sandbox only.`
  if (setting.frozen) return `The clock of the sandbox is frozen at ${shown}.`
  return setting.offset_ms === 0 ? undefined : `The clock continues at ${shown}, the time of the sandbox.`
}

/** Key of the value with the time at which the clock of the sandbox started; `null` for real time. */
const START = 'clock_start'

/**
 * Returns where a reset sets the clock, and a start without a stored time. A seeded run is frozen, so that it is
 * reproducible. In a sandbox, the settings of its first instance count.
 */
export function resetTarget({ seed, startAt, values, shared }: Settings & Pick<Parts, 'values' | 'shared'>) {
  const start = shared && values.get(START)
  if (start !== undefined)
    return { time: typeof start === 'string' ? new Date(start) : undefined, frozen: false }
  return seed === undefined
    ? { time: startAt, frozen: false }
    : { time: startAt ?? SEEDED_START, frozen: true }
}

/** Returns the clock as bundles have it. A program's own clock counts as frozen. */
export function clockNow(clock: Clock): Bundle['clock'] {
  const now = clock.now().toISOString()
  return isMovable(clock)
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
