/** However often it failed, a delivery is tried again after a minute. */
const LONGEST_REST_MS = 60_000

/**
 * Deliveries that are left alone for a while because recording their attempt failed: for `restMs`, twice that the next
 * time, and so on. In real time, since what failed is this machine. `onOver` tells when a rest is over.
 */
export function createRests({ restMs, onOver }: { restMs: number; onOver: () => void }) {
  const failures = new Map<string, number>()
  const timers = new Map<string, NodeJS.Timeout>()
  return {
    has: (id: string) => timers.has(id),
    count: () => timers.size,
    start(id: string): void {
      const failed = failures.get(id) ?? 0
      failures.set(id, failed + 1)
      const wakeUp = () => {
        timers.delete(id)
        onOver()
      }
      clearTimeout(timers.get(id))
      timers.set(id, setTimeout(wakeUp, Math.min(restMs * 2 ** failed, LONGEST_REST_MS)).unref())
    },
    /** The delivery's attempt has been recorded. */
    forget(id: string): void {
      failures.delete(id)
      clearTimeout(timers.get(id))
      timers.delete(id)
    },
    stop(): void {
      for (const timer of timers.values()) clearTimeout(timer)
      timers.clear()
    },
  }
}
