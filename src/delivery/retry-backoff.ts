import { Refusal } from '../model/refusal.ts'
import { timers } from '../timers.ts'

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
    /** Ends the backoff of a delivery whose attempt was recorded. */
    forget,
    /** Ends the backoff of all deliveries whose outcome the store refused: it accepts writes again. */
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
