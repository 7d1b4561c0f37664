import { setMaxListeners } from 'node:events'
import { Refusal } from '../model/refusal.ts'
import { timers } from '../timers.ts'

/** Aborts the attempts in flight, with a reason that their callers receive. */
interface Aborts {
  /** The signal for attempts that begin now. */
  signal: AbortSignal
  now(reason: Refusal): void
  /** Aborts them when they have not ended within `graceMs`. */
  after(graceMs: number, ended: Promise<unknown>, reason: Refusal): Promise<void>
}

export function createAborts(): Aborts {
  let controller = newController()
  const aborts: Aborts = {
    signal: controller.signal,
    now(reason) {
      controller.abort(reason)
      controller = newController()
      aborts.signal = controller.signal
    },
    async after(graceMs, ended, reason) {
      const timer = timers.setTimeout(() => aborts.now(reason), graceMs)
      await ended
      timers.clearTimeout(timer)
    },
  }
  return aborts
}

/** @throws Error where the global AbortController is not Node's own. */
export function requireAbortSignals(): void {
  try {
    setMaxListeners(0, new AbortController().signal)
  } catch (cause) {
    throw new Error(
      'This environment has replaced AbortController, and Node does not accept its signals. Run this file in the environment "node": with Vitest, begin it with the comment // @vitest-environment node.',
      { cause },
    )
  }
}

function newController(): AbortController {
  const controller = new AbortController()
  // Each attempt adds a listener.
  setMaxListeners(0, controller.signal)
  return controller
}

/**
 * Coalesces calls: `task` runs once in the next turn of the event loop, however often the result is called before. A call
 * while `task` runs makes it run once more. `task` must not reject.
 */
export function coalesce(task: () => Promise<void>): () => void {
  let wanted = false
  let planned = false
  const run = async () => {
    wanted = false
    await task()
    planned = wanted
    if (planned) timers.setImmediate(() => void run())
  }
  return () => {
    wanted = true
    if (planned) return
    planned = true
    timers.setImmediate(() => void run())
  }
}

/** Runs tasks one after another; skips a task whose signal aborted before it started. */
export function createSerialQueue() {
  let last: Promise<unknown> = Promise.resolve()
  return <T>(task: () => Promise<T>, signal?: AbortSignal): Promise<T> => {
    const done = last.then(() => {
      signal?.throwIfAborted()
      return task()
    })
    last = done.catch(() => {}) // The caller of the task gets its error.
    return done
  }
}

/** Exclusive section: callers check it, and start nothing while it runs. */
export function createExclusiveSection() {
  const section = {
    /** Resolves when the running section ends; `undefined` when none runs. */
    underWay: undefined as Promise<void> | undefined,
    /** Number of sections begun, so that a caller sees whether one ran while it waited. */
    begun: 0,
    async during(work: () => Promise<void>): Promise<void> {
      section.begun += 1
      const done = work()
      const over = done.catch(() => {})
      section.underWay = over
      try {
        await done
      } finally {
        if (section.underWay === over) section.underWay = undefined
      }
    },
  }
  return section
}

/** Longest backoff: one minute. */
const MAX_BACKOFF_MS = 60_000

/**
 * Backoff for deliveries whose attempt could not be recorded: `backoffMs`, doubled with each failure. It runs in real time,
 * because the failure is of this machine. `onOver` is called when a backoff ends.
 */
export function createRetryBackoff({ backoffMs, onOver }: { backoffMs: number; onOver: () => void }) {
  const failures = new Map<string, number>()
  const timersById = new Map<string, NodeJS.Timeout>()
  /** Deliveries whose outcome the store refused. Other errors may concern one delivery, whose backoff goes on. */
  const notStored = new Set<string>()
  const forget = (id: string) => {
    failures.delete(id)
    notStored.delete(id)
    timers.clearTimeout(timersById.get(id))
    timersById.delete(id)
  }
  return {
    has: (id: string) => timersById.has(id),
    count: () => timersById.size,
    start(id: string, error: unknown): void {
      const failed = failures.get(id) ?? 0
      failures.set(id, failed + 1)
      if (error instanceof Refusal && error.code === 'storage_unavailable') notStored.add(id)
      const expire = () => {
        timersById.delete(id)
        onOver()
      }
      timers.clearTimeout(timersById.get(id))
      timersById.set(id, timers.setTimeout(expire, Math.min(backoffMs * 2 ** failed, MAX_BACKOFF_MS)).unref())
    },
    /**
     * Must be called when an attempt was recorded. Ends the backoff of its delivery, and of all deliveries whose outcome the
     * store refused: it accepts writes again.
     */
    recorded(id: string): void {
      if (failures.size === 0) return
      forget(id)
      if (notStored.size === 0) return
      for (const other of notStored) forget(other)
      onOver()
    },
    /** Ends all backoffs and forgets their failures: the deliveries are gone, or no further attempts are made. */
    clear(): void {
      for (const timer of timersById.values()) timers.clearTimeout(timer)
      for (const entries of [timersById, failures, notStored]) entries.clear()
    },
  }
}
