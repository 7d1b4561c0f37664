import { setMaxListeners } from 'node:events'
import type { Refusal } from '../model/refusal.ts'
import { timers } from '../timers.ts'

/** Takes attempts in flight back, for a reason that whoever waits for them hears. */
export function createAborts() {
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

/**
 * Makes a function that has `task` run before the next turn of the event loop, once however often it is called until
 * then; called while it runs, once more afterwards: what it looked at may have changed. `task` must not reject.
 */
export function coalesce(task: () => Promise<void>): () => void {
  let wanted = false
  let planned = false
  const run = async () => {
    wanted = false
    await task()
    planned = wanted
    if (planned) plan()
  }
  const plan = () => timers.setImmediate(() => void run())
  return () => {
    wanted = true
    if (planned) return
    planned = true
    plan()
  }
}

/** Keeps others from beginning while something is done that they must not see half done. */
export function createExclusiveSection() {
  let current: Promise<void> | undefined
  let begun = 0
  return {
    /** Resolves when it is over; `undefined` when there is none. */
    underWay: () => current,
    /** How many there have been, so that who waited for something else can tell whether one came and went. */
    begun: () => begun,
    async during(work: () => Promise<void>): Promise<void> {
      begun += 1
      const done = work()
      const over = done.catch(() => {})
      current = over
      try {
        await done
      } finally {
        if (current === over) current = undefined
      }
    },
  }
}
