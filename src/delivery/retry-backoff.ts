import { Refusal } from '../model/refusal.ts'
import { timers } from '../timers.ts'

/** However often it failed, a delivery is tried again after a minute. */
const MAX_BACKOFF_MS = 60_000

/**
 * Deliveries that are left alone for a while because recording their attempt failed: for `restMs`, twice that the next
 * time, and so on. In real time, since what failed is this machine. `onOver` tells when a rest is over.
 */
export function createRetryBackoff({ backoffMs, onOver }: { backoffMs: number; onOver: () => void }) {
  const failures = new Map<string, number>()
  const timersById = new Map<string, NodeJS.Timeout>()
  /** Those whose outcome the store could not take. Another error may be of one delivery alone, and keeps its backoff. */
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
    /** The delivery's attempt has been recorded. */
    forget,
    /** The store takes writes again. Ends the backoff of all whose outcome it could not take. */
    endNotStored(): void {
      if (notStored.size === 0) return
      for (const id of notStored) forget(id)
      onOver()
    },
    stop(): void {
      for (const timer of timersById.values()) timers.clearTimeout(timer)
      timersById.clear()
    },
  }
}
