import type { CaseResult } from '../report/result.ts'
import type { ReceiverCase, Stage } from './case.ts'
import type { Answer } from './send.ts'

/** After so many requests without an answer the rest would take ten seconds each, and tell nothing new. */
const PATIENCE = 2

/** Runs the cases one after the other, so that what a case breaks is not blamed on another. */
export async function runReceiverCases(
  cases: readonly ReceiverCase[],
  stage: Stage,
  begin: (one: ReceiverCase, index: number) => void = () => undefined,
): Promise<CaseResult[]> {
  const results: CaseResult[] = []
  let late = 0
  const watch = (answer: Answer) => {
    if ('code' in answer && answer.code === 'TIMEOUT') late += 1
    return answer
  }
  const watched: Stage = { ...stage, send: async (...args) => watch(await stage.send(...args)) }
  for (const [index, one] of cases.entries()) {
    begin(one, index)
    const enough = late >= PATIENCE && one.id !== 'answers_in_time'
    results.push(enough ? notTried(one, late) : await examine(one, watched))
  }
  return results
}

async function examine(one: ReceiverCase, stage: Stage): Promise<CaseResult> {
  const started = performance.now()
  const wrong = await one.examine(stage)
  const duration_ms = Math.round(performance.now() - started)
  return {
    ...named(one),
    verdict: wrong === undefined ? 'passed' : 'failed',
    detail: wrong ?? null,
    duration_ms,
  }
}

function notTried(one: ReceiverCase, late: number): CaseResult {
  const detail = `Not tried, since ${late} requests before it were not answered in time.`
  return { ...named(one), verdict: 'skipped', detail, duration_ms: 0 }
}

function named({ group, id, title, reason }: ReceiverCase) {
  return { group, id, title, reason }
}
