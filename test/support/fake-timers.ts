import { onTestFinished, vi } from 'vitest'
import { timers } from '../../src/timers.ts'

/**
 * Vitest's fake timers for the service's own code, too, which otherwise keeps the real ones. Both are real again when the
 * test ends.
 */
export function fakeOwnTimers(options?: Parameters<typeof vi.useFakeTimers>[0]): void {
  vi.useFakeTimers(options)
  const real = { ...timers }
  // Read at each call: `vi.useRealTimers` takes effect at once.
  Object.assign(timers, {
    setTimeout: (task: () => void, ms: number) => setTimeout(task, ms),
    clearTimeout: (timer: NodeJS.Timeout | undefined) => clearTimeout(timer),
    setImmediate: (task: () => void) => setImmediate(task),
    clearImmediate: (task: NodeJS.Immediate | undefined) => clearImmediate(task),
    now: () => Date.now(),
  })
  onTestFinished(() => {
    Object.assign(timers, real)
    vi.useRealTimers()
  })
}
