import type { Clock } from '../../src/clock.ts'

/** A clock that is frozen until it is moved. Tasks run in order of their time, and see that time as now. */
export interface ManualClock extends Clock {
  /** Moves on by this many milliseconds. */
  advance(ms: number): void
  /** How many tasks wait. */
  waiting(): number
}

export function createManualClock(start = '2026-11-21T18:00:00.000Z'): ManualClock {
  const tasks = new Set<{ time: number; task: () => void }>()
  let now = Date.parse(start)
  const firstDue = (until: number) =>
    [...tasks].filter(({ time }) => time <= until).sort((one, other) => one.time - other.time)[0]
  const runDue = (until: number) => {
    for (let next = firstDue(until); next !== undefined; next = firstDue(until)) {
      tasks.delete(next)
      now = Math.max(now, next.time)
      next.task()
    }
    now = until
  }
  return {
    now: () => new Date(now),
    at(time, task) {
      const entry = { time: time.getTime(), task }
      tasks.add(entry)
      // Like a timer's, a task for a time that has come runs soon, and not at once.
      if (entry.time <= now) queueMicrotask(() => runDue(now))
      return () => tasks.delete(entry)
    },
    advance: (ms) => runDue(now + ms),
    waiting: () => tasks.size,
  }
}
