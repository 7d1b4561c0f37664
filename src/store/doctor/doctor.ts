import { acquireLock } from '../lock.ts'
import { applyRepair, planRepair } from './repair.ts'
import { diagnose, type Finding } from './diagnose.ts'
import { surveyDirectory, type Survey } from './survey.ts'
import { judgeStore } from './judge.ts'

/** Findings about a data directory, and the repairs made. */
export interface CheckUp {
  /** A start would succeed. */
  ok: boolean
  checks: readonly Finding[]
  /** Messages of the repair, one per step. */
  repaired: readonly string[]
  /** Files that a repair would change; empty when there is nothing to repair. */
  repairable: readonly string[]
  /** The process that has the directory open. */
  holder: number | undefined
}

/** Checks a data directory without changing it. */
export async function checkUp(directory: string): Promise<CheckUp> {
  return resultOf(await surveyDirectory(directory), [])
}

/**
 * Repairs a data directory: keeps what can be kept, moves the rest aside and deletes nothing. Returns the findings after the
 * repair. Only checks a directory that a running process has open.
 * @throws DirectoryInUse when a process opens it meanwhile; then nothing was changed.
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
