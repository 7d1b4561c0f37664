import { timers } from '../../timers.ts'
import { DatabaseUnusable } from './start-errors.ts'

/** Milliseconds until a failed statement is repeated. */
export const RETRY_MS = 50

/** Milliseconds between two looks at a time limit, and the most that count from one look to the next. */
const LOOK_MS = { pause: 100, counted: 250 }

let ran = 0
let seenAt = timers.elapsed()

/**
 * Milliseconds on a clock for time limits. It stands while this process gets no CPU: then the database may have answered,
 * and the answer was not read yet. It is exact while `within` waits.
 */
export function timeRun(): number {
  const now = timers.elapsed()
  ran += Math.min(now - seenAt, LOOK_MS.counted)
  seenAt = now
  return ran
}

/** Repeats `work` until it succeeds or `until`, a time of `timeRun`, is over; then rejects with its last error. */
export async function retrying<T>(until: number, work: () => Promise<T>): Promise<T> {
  for (;;)
    try {
      return await within(until - timeRun(), work())
    } catch (error) {
      // A repetition does not help.
      if (timeRun() + RETRY_MS >= until || error instanceof DatabaseUnusable) throw error
      await timers.sleep(RETRY_MS)
    }
}

/** Rejects when `work` takes longer than `ms`, by `timeRun`. */
export async function within<T>(ms: number, work: Promise<T>): Promise<T> {
  const until = timeRun() + ms
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_resolve, reject) => {
    const look = () => {
      const left = until - timeRun()
      if (left > 0) timer = timers.setTimeout(look, Math.min(left, LOOK_MS.pause))
      else reject(new Error('The database did not answer in time.'))
    }
    timer = timers.setTimeout(look, Math.max(0, Math.min(ms, LOOK_MS.pause)))
  })
  try {
    return await Promise.race([work, late])
  } finally {
    timers.clearTimeout(timer)
  }
}

/**
 * Runs a job every `ms`, with some jitter, one run at a time. A failed run goes to `onError`, and the next one follows. `stop`
 * waits for the current run.
 */
export function repeat(ms: number, job: () => Promise<void>, onError: (error: unknown) => void = () => {}) {
  let stopped = false
  let current: Promise<void> = Promise.resolve()
  let timer: NodeJS.Timeout
  const plan = () => {
    timer = timers.setTimeout(
      () => {
        current = job()
          .catch(onError)
          .then(() => (stopped ? undefined : plan()))
      },
      ms * (0.75 + Math.random() / 2),
    )
    timer.unref()
  }
  plan()
  return {
    stop(): Promise<void> {
      stopped = true
      timers.clearTimeout(timer)
      return current
    },
  }
}
