import { Refusal } from '../model/refusal.ts'
import { timers } from '../timers.ts'

/** However often it failed, a delivery is tried again after a minute. */
const LONGEST_REST_MS = 60_000

/**
 * Deliveries that are left alone for a while because recording their attempt failed: for `restMs`, twice that the next
 * time, and so on. In real time, since what failed is this machine. `onOver` tells when a rest is over.
 */
export function createRests({ restMs, onOver }: { restMs: number; onOver: () => void }) {
  const failures = new Map<string, number>()
  const running = new Map<string, NodeJS.Timeout>()
  /** Those whose outcome the store could not take. Another error may be of one delivery alone, and keeps its backoff. */
  const unstored = new Set<string>()
  const forget = (id: string) => {
    failures.delete(id)
    unstored.delete(id)
    timers.clearTimeout(running.get(id))
    running.delete(id)
  }
  return {
    has: (id: string) => running.has(id),
    count: () => running.size,
    start(id: string, error: unknown): void {
      const failed = failures.get(id) ?? 0
      failures.set(id, failed + 1)
      if (error instanceof Refusal && error.code === 'storage_unavailable') unstored.add(id)
      const wakeUp = () => {
        running.delete(id)
        onOver()
      }
      timers.clearTimeout(running.get(id))
      running.set(id, timers.setTimeout(wakeUp, Math.min(restMs * 2 ** failed, LONGEST_REST_MS)).unref())
    },
    /** The delivery's attempt has been recorded. */
    forget,
    /** The store takes writes again. Ends the backoff of all whose outcome it could not take. */
    endUnstored(): void {
      if (unstored.size === 0) return
      for (const id of unstored) forget(id)
      onOver()
    },
    stop(): void {
      for (const timer of running.values()) timers.clearTimeout(timer)
      running.clear()
    },
  }
}
