import { MOST_TIMER_MS, requireKnownOptions, shown } from '../model/simulator/settings.ts'
import { TimedOut } from './errors.ts'

/**
 * Returns a time limit as the delay of a timer: a whole number, at most {@link MOST_TIMER_MS}.
 * @throws TypeError unless it is a number of at least 0.
 */
export function delayOf(timeout: number): number {
  if (typeof timeout === 'number' && timeout >= 0) return Math.min(Math.ceil(timeout), MOST_TIMER_MS)
  throw new TypeError(`timeout must be a number of milliseconds of at least 0, got ${shown(timeout)}.`)
}

/**
 * Time limit of a call. A move of the clock, a load of a state and a reset end with the call; the service finishes all
 * others.
 */
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

/**
 * Runs `work` within a time limit, at which its signal aborts. `consequence` ends the message of the error.
 * @throws TimedOut, or the reason of `signal`; TypeError for options that cannot be read.
 */
export async function limited<T>(
  options: CallOptions,
  work: (signal: AbortSignal | undefined) => Promise<T>,
  consequence = '.',
): Promise<T> {
  requireKnownOptions(options, ['signal', 'timeout'])
  const { signal, timeout } = options
  requireSignal(signal)
  if (timeout === undefined) return work(signal)
  const limit = AbortSignal.timeout(delayOf(timeout))
  try {
    return await work(signal === undefined ? limit : AbortSignal.any([signal, limit]))
  } catch (error) {
    if (!limit.aborted || signal?.aborted === true) throw error
    throw new TimedOut(`The service did not finish within ${timeout / 1_000} s${consequence}`)
  }
}

/**
 * Validates the signal of a caller, if there is one.
 * @throws TypeError unless it is an AbortSignal, also of another realm.
 */
export function requireSignal(given: unknown): void {
  if (!given || typeof (given as { aborted?: unknown }).aborted === 'boolean') return
  const got = given instanceof AbortController ? 'an AbortController; pass its property signal' : shown(given)
  throw new TypeError(`signal must be an AbortSignal, got ${got}.`)
}

/** Milliseconds that a call may take beyond the deadline of its wait. */
const LAST_CALL_MS = 5_000

/**
 * Makes a call of a wait. It ends soon after the deadline, by default after now, when the service does not respond.
 * @throws TimedOut then, or the error of the call.
 */
export async function callUntil<T>(
  call: (options: CallOptions) => Promise<T>,
  deadline: AbortSignal = AbortSignal.abort(),
): Promise<T> {
  const late = new AbortController()
  const onDeadline = () => {
    const error = new TimedOut(`The service did not respond within ${LAST_CALL_MS / 1_000} s.`)
    AbortSignal.timeout(LAST_CALL_MS).addEventListener('abort', () => late.abort(error), { once: true })
  }
  if (deadline.aborted) onDeadline()
  else deadline.addEventListener('abort', onDeadline, { once: true })
  try {
    return await call({ signal: late.signal })
  } finally {
    deadline.removeEventListener('abort', onDeadline)
  }
}
