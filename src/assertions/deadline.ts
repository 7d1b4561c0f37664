import { timers } from '../timers.ts'
import type { CallOptions } from '../client/limit.ts'

/**
 * Runs `work` with a signal that aborts after `timeout` milliseconds of real time, or with the caller's signal.
 * @throws the reason of the caller's signal once that has aborted.
 */
export async function untilDeadline<T>(
  { timeout, signal }: CallOptions & { timeout: number },
  work: (deadline: AbortSignal) => Promise<T>,
): Promise<T> {
  signal?.throwIfAborted()
  const limit = new AbortController()
  // Unlike the timer of AbortSignal.timeout, this one keeps the process alive while it runs.
  const timer = timers.setTimeout(() => limit.abort(), timeout)
  if (timeout <= 0) limit.abort()
  try {
    const result = await work(signal === undefined ? limit.signal : AbortSignal.any([limit.signal, signal]))
    signal?.throwIfAborted()
    return result
  } catch (error) {
    signal?.throwIfAborted()
    throw error
  } finally {
    timers.clearTimeout(timer)
  }
}
