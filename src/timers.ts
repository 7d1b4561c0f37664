import { performance } from 'node:perf_hooks'
import * as callbacks from 'node:timers'
import * as promises from 'node:timers/promises'

const { setTimeout, clearTimeout, setInterval, clearInterval, setImmediate, clearImmediate } = callbacks
const { setTimeout: sleep, setImmediate: nextTurn } = promises
const { queueMicrotask } = globalThis
const { nextTick } = process
const now = Date.now.bind(Date)
const elapsed = performance.now.bind(performance)

/**
 * The timers and clocks of Node.js as of the load of this module. The simulator uses them instead of the globals. So a
 * test may replace all globals by fake timers (Vitest, Jest) without stopping a service in its process. The build makes
 * bundled packages use them, too.
 */
export const timers = {
  setTimeout,
  clearTimeout,
  setInterval,
  clearInterval,
  setImmediate,
  clearImmediate,
  queueMicrotask,
  nextTick,
  /** Resolves after so many milliseconds. */
  sleep,
  /** Resolves in the next turn of the event loop. */
  nextTurn,
  /** Milliseconds since 1970 by the clock of this machine. */
  now,
  /** Milliseconds since an arbitrary point, on a clock that is never set. */
  elapsed,
}
