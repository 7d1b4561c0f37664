import { INTERRUPTED } from '../report/interruption.ts'
import type { CaseResult } from '../report/result.ts'
import type { ReceiverCase, Stage } from './case.ts'
import { createPatience, type Patience } from './patience.ts'

export interface Run {
  /** How long an answer is waited for, in milliseconds. */
  timeoutMs: number
  signal: AbortSignal
  begin: (one: ReceiverCase, index: number) => void
}

/** Runs the cases one after the other, so that what a case breaks is not blamed on another. */
export async function runReceiverCases(
  cases: readonly ReceiverCase[],
  stage: Stage,
  { timeoutMs, signal, begin }: Run,
): Promise<CaseResult[]> {
  const results: CaseResult[] = []
  const patience = createPatience(timeoutMs)
  for (const [index, one] of cases.entries()) {
    const lost = signal.aborted ? INTERRUPTED : patience.lost(one)
    if (lost === undefined) begin(one, index)
    const result =
      lost === undefined ? await examine(one, watched(stage, patience, one)) : notTried(one, lost)
    const why = signal.aborted ? INTERRUPTED : patience.cutShort(one)
    results.push(why === undefined ? result : { ...result, verdict: 'not_checked', detail: why })
  }
  return results
}

/** What is told of a receiver that did not answer the first, plain delivery: one case fails, and none is tried. */
export function unanswered(cases: readonly ReceiverCase[], timeoutMs: number): CaseResult[] {
  const blamed = cases.find(({ id }) => id === 'answers_in_time') ?? cases[0]
  const silence = `A plain, genuine delivery was sent first, and not answered within ${timeoutMs / 1000} s`
  return cases.map((one) =>
    one === blamed
      ? { ...named(one), verdict: 'failed', detail: `${silence}.`, duration_ms: timeoutMs }
      : notTried(one, `Not tried: ${silence.charAt(0).toLowerCase()}${silence.slice(1)}.`),
  )
}

function watched({ send, ...stage }: Stage, patience: Patience, one: ReceiverCase): Stage {
  return {
    ...stage,
    async send(delivery, options) {
      const answer = await send(delivery, { ...options, timeoutMs: patience.limit() })
      patience.heed(one, answer)
      return answer
    },
  }
}

async function examine(one: ReceiverCase, stage: Stage): Promise<CaseResult> {
  const started = performance.now()
  const wrong = await one.examine(stage)
  const duration_ms = Math.round(performance.now() - started)
  if (wrong === undefined) return { ...named(one), verdict: 'passed', detail: null, duration_ms }
  if (typeof wrong === 'object' && 'verdict' in wrong) return { ...named(one), ...wrong, duration_ms }
  const told = typeof wrong === 'string' ? { detail: wrong } : wrong
  return { ...named(one), verdict: 'failed', ...told, duration_ms }
}

function notTried(one: ReceiverCase, detail: string): CaseResult {
  return { ...named(one), verdict: 'not_checked', detail, duration_ms: 0 }
}

function named({ group, id, title, basis = 'specification', reason }: ReceiverCase) {
  return { group, id, title, basis, reason }
}
