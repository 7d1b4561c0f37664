import { timers } from '../timers.ts'

/** Waits in real time, all of which end at once when the service stops. */
export function createPause() {
  const waiting = new Set<() => void>()
  let ended = false
  return {
    wait(ms: number): Promise<void> {
      if (ms === 0 || ended) return Promise.resolve()
      return new Promise((resolve) => {
        const end = () => {
          timers.clearTimeout(timer)
          waiting.delete(end)
          resolve()
        }
        const timer = timers.setTimeout(end, ms)
        waiting.add(end)
      })
    },
    end(): void {
      ended = true
      for (const end of waiting) end()
    },
  }
}
