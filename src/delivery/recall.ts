import { setMaxListeners } from 'node:events'
import type { Refusal } from '../model/refusal.ts'
import { timers } from '../timers.ts'

/** Takes attempts in flight back, for a reason that whoever waits for them hears. */
export function createRecall() {
  let controller = newController()
  const now = (reason: Refusal) => {
    controller.abort(reason)
    controller = newController()
  }
  return {
    /** To be watched by attempts that begin now. */
    signal: (): AbortSignal => controller.signal,
    now,
    /** Waits so many milliseconds for them to end of themselves. */
    async after(graceMs: number, ended: Promise<unknown>, reason: Refusal): Promise<void> {
      const timer = timers.setTimeout(() => now(reason), graceMs)
      await ended
      timers.clearTimeout(timer)
    },
  }
}

function newController(): AbortController {
  const controller = new AbortController()
  // Each attempt listens, and there may be many.
  setMaxListeners(0, controller.signal)
  return controller
}
