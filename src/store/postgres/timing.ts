import { timers } from '../../timers.ts'

/** Milliseconds until a failed statement is repeated. */
const RETRY_MS = 50

/** Repeats `work` until it succeeds or `until`, a time of `timers.elapsed`, is over; then rejects with its last error. */
export async function retrying<T>(until: number, work: () => Promise<T>): Promise<T> {
  for (;;)
    try {
      return await within(until - timers.elapsed(), work())
    } catch (error) {
      if (timers.elapsed() + RETRY_MS >= until) throw error
      await pause()
    }
}

/** Rejects when `work` takes longer than `ms`. */
export async function within<T>(ms: number, work: Promise<T>): Promise<T> {
  let cancel = ignore
  const late = new Promise<never>((_resolve, reject) => {
    const timer = timers.setTimeout(
      () => reject(new Error('The database did not answer in time.')),
      Math.max(0, ms),
    )
    cancel = () => timers.clearTimeout(timer)
  })
  try {
    return await Promise.race([work, late])
  } finally {
    cancel()
  }
}

/** Waits until a failed statement is repeated. */
export function pause(): Promise<void> {
  return new Promise((resolve) => void timers.setTimeout(resolve, RETRY_MS))
}

/** Runs a job every `ms`, with some jitter, one run at a time. `stop` waits for the current run. */
export function repeat(ms: number, job: () => Promise<void>, onError: (error: unknown) => void = ignore) {
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

function ignore(): void {}
