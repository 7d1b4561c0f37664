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

/** A clock that can be moved and frozen: real time plus an offset, or a fixed time (contract section 10). */
export interface MovableClock extends Clock {
  /**
   * Moves forward to `time` and runs the tasks that become due.
   * @throws RangeError when `time` is in the past.
   */
  moveTo(time: Date): void
  /**
   * Sets the clock to `time`, also backwards, or to real time, frozen or running. Tasks of `at` keep their times. The
   * result restores the earlier clock completely.
   */
  set(time: Date | undefined, frozen: boolean): () => void
  /** Freezes the clock, or lets it run on. */
  freeze(frozen: boolean): void
  isFrozen(): boolean
  /** Stops the clock until the result is called, whether it is frozen or not. */
  hold(): () => void
  /** Returns the offset from real time, in milliseconds. */
  offsetMs(): number
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
 * clock.moveTo(new Date('2026-11-23T06:00:00Z'))
 */
export function createMovableClock({
  real = new Date(timers.now()),
  start = real,
  frozen: startsFrozen = false,
}: MovableClockOptions = {}): MovableClock {
  const alarms = new Set<Alarm>()
  let frozen = startsFrozen
  let held = false
  let offset = start.getTime() - real.getTime()
  let stoodAt = frozen ? start.getTime() : undefined
  const now = () => stoodAt ?? timers.now() + offset

  function arm(alarm: Alarm): void {
    alarm.cancel()
    const isDue = alarm.time <= now()
    if (stoodAt !== undefined && !isDue) alarm.cancel = () => {}
    else alarm.cancel = systemClock.at(new Date(isDue ? 0 : alarm.time - offset), alarm.ring)
  }

  function armAll(): void {
    for (const alarm of [...alarms].sort((one, other) => one.time - other.time)) arm(alarm)
  }

  function standOrRun(realTime = timers.now()): void {
    if (frozen || held) stoodAt = now()
    else if (stoodAt !== undefined) {
      offset = stoodAt - realTime
      stoodAt = undefined
    }
    armAll()
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
    moveTo(time) {
      const ahead = time.getTime() - now()
      if (!(ahead >= 0)) throw new RangeError('A clock is moved forward only.')
      if (stoodAt === undefined) offset += ahead
      else stoodAt = time.getTime()
      armAll()
    },
    set(time, wanted) {
      const before = { frozen, offset, stoodAt }
      const realTime = timers.now()
      frozen = wanted
      stoodAt = time?.getTime() ?? realTime
      standOrRun(realTime)
      return () => {
        ;({ frozen, offset, stoodAt } = before)
        standOrRun()
      }
    },
    freeze(wanted) {
      frozen = wanted
      standOrRun()
    },
    isFrozen: () => frozen,
    hold() {
      held = true
      standOrRun()
      return () => {
        held = false
        standOrRun()
      }
    },
    offsetMs: () => (stoodAt === undefined ? offset : stoodAt - timers.now()),
  }
}
