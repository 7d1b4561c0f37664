import { timers } from './timers.ts'

/** Clock of the service. Deliveries are signed with real time by default; everything else follows this clock. */
export interface Clock {
  now(): Date
  /** Runs `task` once, at `time` or soon after; the result cancels it. */
  at(time: Date, task: () => void): () => void
}

/**
 * Longest single timer, in milliseconds. Timers pause while a laptop sleeps and ignore changes of the wall clock. So a
 * longer wait compares with the wall clock after each such interval.
 */
const LONGEST_TIMER_MS = 10_000

/** Clock of the machine. A pending task does not keep the process alive. */
export const systemClock: Clock = {
  now: () => new Date(timers.now()),
  at(time, task) {
    const left = () => time.getTime() - timers.now()
    let timer: NodeJS.Timeout
    const wait = () => {
      timer = timers.setTimeout(
        () => (left() > 0 ? wait() : task()),
        Math.min(Math.max(left(), 0), LONGEST_TIMER_MS),
      )
      timer.unref()
    }
    wait()
    return () => timers.clearTimeout(timer)
  },
}

/** Clock of the global Date: a receiver in this process compares with it, even when a test has replaced it. */
export const globalClock: Pick<Clock, 'now'> = { now: () => new Date() }

/** Setting of a clock, as JSON: real time plus an offset, or a fixed time (contract section 10). */
export interface ClockSetting {
  /** Milliseconds ahead of real time, while the clock runs. */
  offset_ms: number
  /** Time at which the clock stands, in milliseconds since 1970; `null` while it runs. */
  stands_at: number | null
  frozen: boolean
  /** True while a move stops the clock; independent of `frozen`. */
  held: boolean
}

/** Returns the time that a clock shows, in milliseconds since 1970. */
export function timeOf({ stands_at, offset_ms }: ClockSetting): number {
  return stands_at ?? timers.now() + offset_ms
}

/** Freezes a clock, or lets it run on from where it stands, also when a move holds it meanwhile. */
export function freeze(setting: ClockSetting, frozen: boolean): ClockSetting {
  const real = timers.now()
  const { stands_at, offset_ms } = setting
  const isUnfrozen = setting.frozen && !frozen && stands_at !== null
  return standOrRun({ ...setting, frozen, offset_ms: isUnfrozen ? stands_at - real : offset_ms }, real)
}

/** Stops a clock for a move, or ends that. A move never reduces the offset of a running clock, however long it takes. */
export function hold(setting: ClockSetting, held: boolean): ClockSetting {
  const real = timers.now()
  const { frozen, stands_at, offset_ms } = setting
  if (held)
    return standOrRun(
      { ...setting, held, offset_ms: stands_at === null ? offset_ms : stands_at - real },
      real,
    )
  const reached = stands_at === null || frozen ? stands_at : Math.max(stands_at, real + offset_ms)
  return standOrRun({ ...setting, held, stands_at: reached }, real)
}

/**
 * Moves a clock forward to `time`.
 * @throws RangeError when `time` is in the past.
 */
export function moveTo(setting: ClockSetting, time: Date): ClockSetting {
  const ahead = time.getTime() - timeOf(setting)
  if (!(ahead >= 0)) throw new RangeError('A clock is moved forward only.')
  return setting.stands_at === null
    ? { ...setting, offset_ms: setting.offset_ms + ahead }
    : { ...setting, stands_at: time.getTime() }
}

/** Sets a clock to `time`, also backwards, or to real time, frozen or running. */
export function setTo(setting: ClockSetting, time: Date | undefined, frozen: boolean): ClockSetting {
  const real = timers.now()
  return standOrRun({ ...setting, frozen, stands_at: time?.getTime() ?? real }, real)
}

function standOrRun(setting: ClockSetting, real: number): ClockSetting {
  const { frozen, held, stands_at, offset_ms } = setting
  if (frozen || held) return { ...setting, stands_at: stands_at ?? real + offset_ms }
  return stands_at === null ? setting : { ...setting, offset_ms: stands_at - real, stands_at: null }
}

/** A clock that can be moved and frozen. */
export interface MovableClock extends Clock {
  setting(): ClockSetting
  /** Replaces the setting and runs the tasks that become due. Tasks of `at` keep their times. */
  apply(setting: ClockSetting): void
  isFrozen(): boolean
  /** Returns the offset from real time, in milliseconds. */
  offsetMs(): number
}

/** Returns true for the service's own clock, false for one of a program. */
export function isMovable(clock: Clock): clock is MovableClock {
  return 'setting' in clock
}

interface Alarm {
  time: number
  ring: () => void
  cancel: () => void
}

interface MovableClockOptions {
  start?: Date | undefined
  /** Real time at which `start` was computed; fixes the offset. */
  real?: Date | undefined
  frozen?: boolean
}

/**
 * Creates a clock that starts at `start`; the default is real time.
 * @example
 * const clock = createMovableClock({ start: new Date('2026-11-21T18:00:00Z'), frozen: true })
 * clock.apply(moveTo(clock.setting(), new Date('2026-11-23T06:00:00Z')))
 */
export function createMovableClock({
  real = new Date(timers.now()),
  start = real,
  frozen = false,
}: MovableClockOptions = {}): MovableClock {
  const alarms = new Set<Alarm>()
  let setting: ClockSetting = {
    offset_ms: start.getTime() - real.getTime(),
    stands_at: frozen ? start.getTime() : null,
    frozen,
    held: false,
  }
  const now = () => timeOf(setting)

  function arm(alarm: Alarm): void {
    alarm.cancel()
    const isDue = alarm.time <= now()
    if (setting.stands_at !== null && !isDue) alarm.cancel = () => {}
    else alarm.cancel = systemClock.at(new Date(isDue ? 0 : alarm.time - setting.offset_ms), alarm.ring)
  }

  return {
    now: () => new Date(now()),
    at(time, task) {
      const ring = () => {
        alarms.delete(alarm)
        task()
      }
      const alarm: Alarm = { time: time.getTime(), ring, cancel: () => {} }
      alarms.add(alarm)
      arm(alarm)
      return () => {
        alarms.delete(alarm)
        alarm.cancel()
      }
    },
    setting: () => setting,
    apply(wanted) {
      const { offset_ms, stands_at } = setting
      setting = wanted
      if (wanted.offset_ms === offset_ms && wanted.stands_at === stands_at) return
      for (const alarm of [...alarms].sort((one, other) => one.time - other.time)) arm(alarm)
    },
    isFrozen: () => setting.frozen,
    offsetMs: () => (setting.stands_at === null ? setting.offset_ms : setting.stands_at - timers.now()),
  }
}
