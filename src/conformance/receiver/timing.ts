import { isGood, type ReceiverCase } from './case.ts'
import type { Forge } from './forge.ts'
import type { Send, Answer, Delivery, SendOptions } from './send.ts'
import { setTimeout as sleep } from 'node:timers/promises'

/** The most requests that are sent at once. */
const WIDEST = 16

/** Answers take longer now and then. */
const LENIENCE = 1.5

/** Controls the number of parallel requests, so that a run with a slow receiver ends in reasonable time. */
interface Pace {
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

/** After one request without an answer in the whole time, others wait this long, in milliseconds. */
const SHORT_MS = 1_000

/** After so many cases of a group without an answer, the rest of the group is not tried. */
const MOST = 2

/** Most repetitions of a request that was answered with 429. */
const REPEATS = 3
/** The longest pause before a request is repeated, in milliseconds; three of them are within the margin of the time cases. */
const LONGEST_PAUSE_MS = 2_000

/**
 * Bounds the time that a run takes with a receiver that does not answer, or that limits the rate of requests. The answers
 * that it cannot wait for are marked `unjudged` (specification section 8: a receiver has 10 s).
 */
interface Timeouts {
  send(one: ReceiverCase, delivery: Delivery, options?: SendOptions): Promise<Answer>
  /** Why a case is not even tried. */
  lost(one: ReceiverCase): string | undefined
}

export function createTimeouts(send: Send, wholeMs: number, signal: AbortSignal): Timeouts {
  const silent = new Set<ReceiverCase>()
  const shortMs = Math.min(SHORT_MS, wholeMs)
  let gone: string | undefined
  let isLimited = false

  /** Sends, and waits no longer than there is still time for. */
  async function waiting(one: ReceiverCase, delivery: Delivery, options?: SendOptions): Promise<Answer> {
    const timeoutMs = silent.size === 0 ? wholeMs : shortMs
    const answer = await send(delivery, { ...options, timeoutMs })
    if (!('code' in answer)) return answer
    if (answer.code === 'ECONNREFUSED') gone ??= one.id
    if (answer.code !== 'TIMEOUT') return answer
    const [first = one] = silent
    silent.add(one)
    if (timeoutMs === wholeMs) return answer
    const unjudged = `Not checked: no response within ${timeoutMs / 1000} s. Only ${first.id}, the first case without a response, had ${wholeMs / 1000} s.`
    return { ...answer, unjudged }
  }

  return {
    async send(one, delivery, options) {
      for (let repeats = 0; ; repeats += 1) {
        const answer = await waiting(one, delivery, options)
        if (!('status' in answer) || answer.status !== 429) return answer
        if (isLimited || repeats === REPEATS) {
          isLimited = true
          return { ...answer, unjudged: 'Not checked: the receiver limits the request rate (429).' }
        }
        await sleep(pauseOf(answer.headers['retry-after']), undefined, { signal }).catch(() => undefined)
      }
    },
    lost({ id, group }) {
      if (gone !== undefined && id !== 'keeps_working')
        return `Not checked: the receiver stopped listening during ${gone}.`
      const alike = [...silent].filter((one) => one.group === group)
      if (alike.length < MOST) return undefined
      return `Not checked: ${alike.map((one) => one.id).join(' and ')} got no response.`
    },
  }
}

function pauseOf(retryAfter: string | undefined): number {
  const seconds = Number(retryAfter ?? 1)
  return Math.min(seconds >= 0 ? seconds * 1000 : LONGEST_PAUSE_MS, LONGEST_PAUSE_MS)
}
