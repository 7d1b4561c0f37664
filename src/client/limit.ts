import { TimedOut } from './errors.ts'

/** Time limit of a call, which also ends the operation. */
export interface CallOptions {
  /**
   * Ends the call, which rejects with the signal's reason.
   * @default undefined
   */
  signal?: AbortSignal | undefined
  /**
   * Milliseconds of real time.
   * @default undefined, as long as it takes
   */
  timeout?: number | undefined
}

/** Does something that ends with a signal. @throws TimedOut when the time is up, or the reason of `signal`. */
export async function limited<T>(
  { signal, timeout }: CallOptions,
  work: (signal: AbortSignal | undefined) => Promise<T>,
): Promise<T> {
  if (timeout === undefined) return work(signal)
  const limit = AbortSignal.timeout(timeout)
  try {
    return await work(signal === undefined ? limit : AbortSignal.any([signal, limit]))
  } catch (error) {
    if (!limit.aborted || signal?.aborted === true) throw error
    throw new TimedOut(`The service did not finish within ${timeout / 1_000} s and stopped the operation.`)
  }
}
