import { acquireLock } from '../lock.ts'
import { applyRepair, planRepair } from './repair.ts'
import { diagnose, type Finding } from './diagnose.ts'
import { surveyDirectory, type Survey } from './survey.ts'
import { judgeStore } from './judge.ts'

/** What was found in a data directory, and what was done about it. */
export interface CheckUp {
  /** A start would succeed. */
  ok: boolean
  checks: readonly Finding[]
  /** What a repair has done, in words, one for each step. */
  repaired: readonly string[]
  /** What a repair would do; empty when there is nothing that it can do. */
  repairable: readonly string[]
  /** The process that has the directory open. */
  holder: number | undefined
}

/** Looks at a data directory and changes nothing. */
export async function checkUp(directory: string): Promise<CheckUp> {
  return resultOf(await surveyDirectory(directory), [])
}

/**
 * Keeps what can be kept in a data directory and moves the rest aside; it deletes nothing. The result is what was
 * found afterwards. When a running process has the directory, it only looks.
 * @throws DirectoryInUse, when one takes it meanwhile; then nothing was changed.
 */
export async function repair(directory: string): Promise<CheckUp> {
  const before = await surveyDirectory(directory)
  if (planRepair(before, judgeStore(before)).length === 0) return resultOf(before, [])
  const lock = await acquireLock(directory)
  let told: string[] = []
  try {
    const { holder: _self, ...rest } = await surveyDirectory(directory)
    const survey = { ...rest, leftOpen: lock.leftOpen, holder: undefined }
    const steps = planRepair(survey, judgeStore(survey))
    await applyRepair(directory, steps)
    told = steps.map((step) => step.told)
  } finally {
    lock.release()
  }
  return resultOf(await surveyDirectory(directory), told)
}

function resultOf(survey: Survey, repaired: readonly string[]): CheckUp {
  const verdict = judgeStore(survey)
  const checks = diagnose(survey, verdict)
  const repairable = planRepair(survey, verdict).map(({ name }) => name)
  const ok = checks.every(({ level }) => level !== 'bad')
  return { ok, checks, repaired, repairable, holder: survey.holder }
}
