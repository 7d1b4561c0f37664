import type { ReceiverCase } from './case.ts'
import type { Answer } from './send.ts'

/** Once a request has had no answer in the whole of its time, others are waited for this long, in milliseconds. */
const SHORT_MS = 1_000

/** After so many cases of a group without an answer, the rest of it would tell nothing new. */
const MOST = 2

/** How long answers are waited for, so that a receiver that gives none is told of soon (specification section 8: 10 s). */
export interface Patience {
  /** For the next request, in milliseconds. */
  limit(): number
  /** Takes note of an answer to this case. */
  heed(one: ReceiverCase, answer: Answer): void
  /** Why a case that was tried is not judged: it has not had the whole time. */
  cutShort(one: ReceiverCase): string | undefined
  /** Why a case is not even tried. */
  lost(one: ReceiverCase): string | undefined
}

export function createPatience(wholeMs: number): Patience {
  const silent: ReceiverCase[] = []
  const hasty = new Set<ReceiverCase>()
  const shortMs = Math.min(SHORT_MS, wholeMs)
  let gone: string | undefined
  return {
    limit: () => (silent.length === 0 ? wholeMs : shortMs),
    heed(one, answer) {
      if (!('code' in answer)) return
      if (answer.code === 'ECONNREFUSED') gone ??= one.id
      if (answer.code !== 'TIMEOUT' || silent.includes(one)) return
      if (silent.length > 0) hasty.add(one)
      silent.push(one)
    },
    cutShort: (one) =>
      hasty.has(one)
        ? `Not judged: no answer within ${shortMs / 1000} s; it was given no more, since ${silent[0]?.id} had none within ${wholeMs / 1000} s.`
        : undefined,
    lost({ id, group }) {
      if (gone !== undefined && id !== 'keeps_working')
        return `Not tried: nothing listens there any more since ${gone}.`
      const alike = silent.filter((one) => one.group === group)
      if (alike.length < MOST) return undefined
      return `Not tried: ${alike.map((one) => one.id).join(' and ')} had no answer.`
    },
  }
}
