import { REPAIR_ADVICE } from '../errors.ts'
import { acquireLock, isLockDraft } from '../lock.ts'
import { isTemporary } from '../snapshot/adapter.ts'
import { type JournalVerdict, judgeStore, type SnapshotVerdict, type StoreVerdict } from './judge.ts'
import { applyRepair, holdsKey, octal, planRepair } from './repair.ts'
import { type Content, modeWanted, type Survey, surveyDirectory } from './survey.ts'
import { count } from '../../model/text/count.ts'

/** Findings about a data directory, and the repairs made. */
export interface CheckUp {
  /** A start would succeed. */
  ok: boolean
  checks: readonly DirectoryFinding[]
  /** Messages of the repair, one per step. */
  repaired: readonly string[]
  /** Files that a repair would change; empty when there is nothing to repair. */
  repairable: readonly string[]
  /** The process that has the directory open. */
  holder: number | undefined
}

/** Checks a data directory. Changes nothing, but creates and removes a file to see whether it can. */
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
  let messages: string[] = []
  try {
    const { holder: _self, ...rest } = await surveyDirectory(directory)
    const survey = { ...rest, leftOpen: lock.leftOpen, holder: undefined }
    const steps = planRepair(survey, judgeStore(survey))
    await applyRepair(directory, steps)
    messages = steps.map(({ message }) => message)
  } finally {
    lock.release()
  }
  return resultOf(await surveyDirectory(directory), messages)
}

function resultOf(survey: Survey, repaired: readonly string[]): CheckUp {
  const verdict = judgeStore(survey)
  const checks = diagnose(survey, verdict)
  const repairable = planRepair(survey, verdict).map(({ name }) => name)
  const ok = checks.every(({ level }) => level !== 'bad')
  return { ok, checks, repaired, repairable, holder: survey.holder }
}

/** Result of one check: `bad` makes a start fail, `note` is information. */
interface DirectoryFinding {
  check: string
  level: 'good' | 'note' | 'bad'
  message: string
}

/** Returns the findings of all checks of a data directory. */
function diagnose(survey: Survey, verdict: StoreVerdict): DirectoryFinding[] {
  const { shown, access } = survey
  if (access === 'missing')
    return [found('directory', 'note', `There is no ${shown} yet. \`tabwire start\` creates it.`)]
  if (access !== 'ok') return [found('directory', 'bad', `Cannot use ${shown}: ${access.why}.`)]
  return [
    found('directory', 'good', `${shown} is readable and writable.`),
    lockFinding(survey),
    ...foldersFinding(survey),
    ...modesFindings(survey),
    credentialsFinding(survey.credentials),
    snapshotFinding(survey, verdict),
    ...journalFindings(survey, verdict),
    ...leftoversFinding(survey),
    ...asideFinding(survey),
    sizesFinding(survey),
  ]
}

function found(check: string, level: DirectoryFinding['level'], message: string): DirectoryFinding {
  return { check, level, message }
}

function lockFinding({ holder }: Survey): DirectoryFinding {
  if (holder === undefined) return found('lock', 'good', 'The data directory is not in use.')
  return found(
    'lock',
    'bad',
    `A service uses the data directory (pid ${holder}), so another cannot start here. Its files may change during this check.`,
  )
}

/** Folders at paths of files that a start replaces or removes. */
function foldersFinding({ entries }: Survey): DirectoryFinding[] {
  const files = /^(?:credentials\.json|lock\.\d+)$/
  const folders = entries.filter(({ name, folder }) => folder && (files.test(name) || isLeftOver(name)))
  if (folders.length === 0) return []
  const names = folders.map(({ name }) => name).join(', ')
  return [found('folders', 'bad', `Found a folder instead of a file: ${names}. Move it away.`)]
}

/** Windows has no file modes. */
function modesFindings({ entries, mode }: Survey): DirectoryFinding[] {
  if (process.platform === 'win32') return []
  const all = [{ name: '.', mode, folder: true }, ...entries]
  const open = all.filter((entry) => modeWanted(entry) !== undefined)
  if (open.length === 0) return [found('modes', 'good', 'Only the owner can read files with secrets.')]
  const named = open.map((entry) => `${entry.name} (${octal(entry.mode)})`).join(', ')
  return [found('modes', 'note', `Other users can read or write files with secrets: ${named}.`)]
}

function credentialsFinding(credentials: Content): DirectoryFinding {
  const name = 'credentials.json'
  if (credentials === undefined)
    return found(name, 'note', `There is no ${name} yet. A start creates it with a new key.`)
  if (typeof credentials === 'string') return found(name, 'bad', `Cannot read ${name}: ${credentials}.`)
  if (holdsKey(credentials)) return found(name, 'good', `${name} contains an API key.`)
  return found(name, 'note', `${name} contains no API key. A start creates a new key.`)
}

function snapshotFinding({ snapshot }: Survey, verdict: StoreVerdict): DirectoryFinding {
  const name = 'db.json'
  if (typeof snapshot === 'string') return found(name, 'bad', `Cannot read ${name}: ${snapshot}.`)
  if (verdict.missingBefore !== undefined)
    return found(
      name,
      'bad',
      `db.json is missing: the journal begins with transaction ${verdict.missingBefore}. Restore db.json before a repair, which would keep none of the journal.`,
    )
  return found(name, snapshotLevels[verdict.snapshot.kind], snapshotMessage(verdict.snapshot))
}

const snapshotLevels = { none: 'good', whole: 'good', newer: 'bad', damaged: 'bad' } as const

function snapshotMessage(verdict: SnapshotVerdict): string {
  if (verdict.kind === 'none') return 'There is no db.json yet. All data is in the journal.'
  if (verdict.kind === 'whole')
    return `db.json is intact: ${verdict.records} records, up to transaction ${verdict.sequence}.`
  // The advice is printed once, at the end.
  return verdict.why.replace(` ${REPAIR_ADVICE}`, '')
}

function journalFindings(
  survey: Survey,
  { journals, journalMissing, newer }: StoreVerdict,
): DirectoryFinding[] {
  if (journalMissing) return [found('journal.ndjson', 'bad', MISSING)]
  return (['old', 'current'] as const).flatMap((which) => {
    const name = which === 'old' ? 'journal.old.ndjson' : 'journal.ndjson'
    const content = survey[which]
    if (typeof content === 'string') return found(name, 'bad', `Cannot read ${name}: ${content}.`)
    const verdict = journals[which]
    return verdict === undefined ? [] : journalFinding(name, verdict, newer)
  })
}

const MISSING =
  'journal.ndjson is missing. The store was not closed after db.json was written, so later acknowledged writes are lost.'

function journalFinding(name: string, verdict: JournalVerdict, newer: boolean): DirectoryFinding {
  const { damage, lines, lost, kept, first, last, torn } = verdict
  if (damage !== undefined) {
    const outlook = newer
      ? ''
      : ` ${count(kept.length, 'transaction')} can be kept, ${count(lost, 'line')} cannot.`
    return found(name, 'bad', `${name} line ${damage.line} (byte ${damage.byte}): ${damage.why}.${outlook}`)
  }
  if (lost > 0) return found(name, 'bad', `${name}: transactions before ${count(lost, 'line')} are missing.`)
  const range = lines === 0 ? '' : ` (${first}–${last})`
  const whole = `${name} is intact: ${count(lines, 'transaction')}${range}`
  if (torn === 0) return found(name, 'good', `${whole}.`)
  return found(
    name,
    'note',
    `${whole}, then ${torn} bytes that were never acknowledged. A start moves them aside.`,
  )
}

function leftoversFinding({ entries }: Survey): DirectoryFinding[] {
  const leftovers = entries.filter(({ name }) => isLeftOver(name))
  if (leftovers.length === 0) return []
  const names = leftovers.map(({ name }) => name).join(', ')
  return [
    found('temporary files', 'note', `Temporary files of a killed process: ${names}. A start removes them.`),
  ]
}

/** True for a temporary file, which a killed process leaves. */
function isLeftOver(name: string): boolean {
  return isTemporary(name) || isLockDraft(name)
}

function asideFinding({ entries }: Survey): DirectoryFinding[] {
  const aside = entries.filter(({ name }) => /\.(?:damaged|torn)-\d+$/.test(name))
  if (aside.length === 0) return []
  const names = aside.map(({ name }) => name).join(', ')
  return [
    found(
      'kept aside',
      'good',
      `Moved aside earlier: ${names}. They may hold records that were lost. Delete them when you need nothing from them.`,
    ),
  ]
}

function sizesFinding({ entries }: Survey): DirectoryFinding {
  const files = entries.filter(({ folder }) => !folder)
  const bytes = files.reduce((sum, { size }) => sum + size, 0)
  return found(
    'size',
    'good',
    `The data directory contains ${count(files.length, 'file')}, ${(bytes / 1e6).toFixed(1)} MB.`,
  )
}
