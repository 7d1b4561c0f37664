import { isGood } from './case.ts'
import type { Forge } from './forge.ts'
import type { Send } from './send.ts'

/** The most requests that are sent at once. */
const WIDEST = 16

/** Answers take longer now and then. */
const LENIENCE = 1.5

/** How many requests a slow receiver gets at once, so that a run ends in reasonable time. */
export interface Pace {
  send: Send
  /**
   * Measures how many requests the receiver answers at once without that one waits for another, and lets no more than
   * these be in flight. One, for a receiver that is quick.
   */
  widen(): Promise<number>
  /** Bounds nothing any more. */
  release(): void
}

/** From `slowMs` milliseconds on an answer is slow. */
export function createPace(sendNow: Send, forge: Forge, slowMs: number): Pace {
  const waiting: (() => void)[] = []
  let quickestMs = Infinity
  let inFlight = 0
  let bound = Infinity
  let measured: number | undefined

  async function measure(): Promise<number> {
    if (quickestMs < slowMs) return 1
    const started = performance.now()
    const answers = await Promise.all(Array.from({ length: WIDEST }, () => sendNow(forge.genuine())))
    const elapsedMs = performance.now() - started
    if (!answers.every(isGood)) return 1
    return Math.max(1, Math.min(WIDEST, Math.floor((WIDEST * quickestMs * LENIENCE) / elapsedMs)))
  }

  return {
    async send(delivery, options) {
      while (inFlight >= bound) await new Promise<void>((resolve) => waiting.push(resolve))
      inFlight += 1
      const started = performance.now()
      const answer = await sendNow(delivery, options)
      quickestMs = Math.min(quickestMs, performance.now() - started)
      inFlight -= 1
      waiting.shift()?.()
      return answer
    },
    async widen() {
      measured ??= await measure()
      return (bound = measured)
    },
    release: () => (bound = Infinity),
  }
}
