import {
  diagnose,
  verify,
  type DiagnoseOptions,
  type Diagnosis,
  type Verification,
} from '../../signature/index.ts'
import { usageError } from '../errors.ts'

/** A verdict and, when it is bad and known why, the mistake. */
export interface Judgement {
  result: Verification
  diagnosis: Diagnosis | undefined
}

/** @throws CommandError (usage) for a secret that cannot be one: that is no wrong signature. */
export function judge(options: DiagnoseOptions): Judgement {
  try {
    const result = verify(options)
    return { result, diagnosis: result.ok ? undefined : diagnose(options) }
  } catch (error) {
    throw usageError(error instanceof Error ? error.message : String(error))
  }
}

/** As `--json` shows it. */
export function viewJudgement({ result, diagnosis }: Judgement): object {
  return { ...result, ...(diagnosis && { mistake: diagnosis.mistake, advice: diagnosis.advice }) }
}

/** How many were right, and how many made which mistake; those that have none are counted by their code. */
export function tally(judgements: readonly Judgement[]) {
  const mistakes: Record<string, number> = {}
  for (const { result, diagnosis } of judgements) {
    if (result.ok) continue
    const name = diagnosis?.mistake ?? result.code
    mistakes[name] = (mistakes[name] ?? 0) + 1
  }
  const right = judgements.filter(({ result }) => result.ok).length
  return { total: judgements.length, right, wrong: judgements.length - right, mistakes }
}
