import { isTemporary } from '../snapshot/adapter.ts'
import type { JournalVerdict } from './judge-journals.ts'
import type { SnapshotVerdict, StoreVerdict } from './judge.ts'
import { modeWanted, type Content, type Survey } from './survey.ts'
import { holdsKey, octal, transactions } from './repair.ts'

/** Result of one check: `bad` makes a start fail, `note` is information. */
export interface Finding {
  check: string
  level: 'good' | 'note' | 'bad'
  message: string
}

/** Returns the findings of all checks of a data directory. */
export function diagnose(survey: Survey, verdict: StoreVerdict): Finding[] {
  const { shown, directory } = survey
  if (directory === 'missing')
    return [found('directory', 'note', `There is no ${shown} yet; \`tabwire start\` makes it.`)]
  if (directory !== 'there') return [found('directory', 'bad', `${shown} cannot be used: ${directory}.`)]
  return [
    found('directory', 'good', `${shown} can be read and written.`),
    lockFinding(survey),
    ...foldersFinding(survey),
    modesFinding(survey),
    credentialsFinding(survey.credentials),
    snapshotFinding(survey, verdict),
    ...journalFindings(survey, verdict),
    ...straysFinding(survey),
    ...asideFinding(survey),
    sizesFinding(survey),
  ]
}

function found(check: string, level: Finding['level'], message: string): Finding {
  return { check, level, message }
}

function lockFinding({ holder }: Survey): Finding {
  if (holder === undefined) return found('lock', 'good', 'The data directory is not in use.')
  return found(
    'lock',
    'bad',
    `A service runs on this directory (pid ${holder}), so another one cannot start here. It may be writing while this is read.`,
  )
}

/** Folders at paths of files that a start replaces or removes. */
function foldersFinding({ entries }: Survey): Finding[] {
  const files = /^(?:credentials\.json|lock\.\d+|lock-\d+-[0-9a-f]{8})$/
  const folders = entries.filter(({ name, folder }) => folder && (files.test(name) || isTemporary(name)))
  if (folders.length === 0) return []
  const names = folders.map(({ name }) => name).join(', ')
  return [found('folders', 'bad', `A folder is where a file should be: ${names}. Move it away.`)]
}

function modesFinding({ entries, mode }: Survey): Finding {
  const all = [{ name: '.', mode, folder: true }, ...entries]
  const open = all.filter((entry) => modeWanted(entry) !== undefined)
  if (open.length === 0) return found('modes', 'good', "Files with secrets are their owner's alone.")
  const named = open.map((entry) => `${entry.name} (${octal(entry.mode)})`).join(', ')
  return found('modes', 'note', `Others than the owner may read or write what holds secrets: ${named}.`)
}

function credentialsFinding(credentials: Content): Finding {
  const name = 'credentials.json'
  if (credentials === undefined)
    return found(name, 'note', `There is no ${name}; a start makes a key, and it.`)
  if (typeof credentials === 'string') return found(name, 'note', `${name} cannot be read: ${credentials}.`)
  if (holdsKey(credentials)) return found(name, 'good', `${name} holds an API key.`)
  return found(name, 'note', `${name} holds no API key; a start makes a new one.`)
}

function snapshotFinding({ snapshot }: Survey, verdict: StoreVerdict): Finding {
  const name = 'db.json'
  if (typeof snapshot === 'string') return found(name, 'bad', `${name} cannot be read: ${snapshot}.`)
  return found(name, snapshotLevels[verdict.snapshot.kind], snapshotMessage(verdict.snapshot))
}

const snapshotLevels = { none: 'good', whole: 'good', newer: 'bad', damaged: 'bad' } as const

function snapshotMessage(verdict: SnapshotVerdict): string {
  if (verdict.kind === 'none') return 'There is no db.json yet; everything is in the journal.'
  if (verdict.kind === 'whole')
    return `db.json is whole: ${verdict.records} records, as after transaction ${verdict.sequence}.`
  // The advice is printed once, at the end.
  return verdict.why.replace(/ Nothing was changed\. `tabwire doctor`.*$/, '')
}

function journalFindings(survey: Survey, { journals, journalMissing, newer }: StoreVerdict): Finding[] {
  if (journalMissing) return [found('journal.ndjson', 'bad', MISSING)]
  return (['old', 'current'] as const).flatMap((which) => {
    const name = which === 'old' ? 'journal.old.ndjson' : 'journal.ndjson'
    const content = survey[which]
    if (typeof content === 'string') return found(name, 'bad', `${name} cannot be read: ${content}.`)
    const verdict = journals[which]
    return verdict === undefined ? [] : journalFinding(name, verdict, newer)
  })
}

const MISSING =
  'journal.ndjson is missing: the store was not closed after db.json was written, so more had been acknowledged.'

function journalFinding(name: string, verdict: JournalVerdict, newer: boolean): Finding {
  const { fault, lines, lost, kept, first, last, torn } = verdict
  if (fault !== undefined) {
    const outlook = newer ? '' : ` ${transactions(kept.length)} can be kept, ${lost} lines cannot.`
    return found(name, 'bad', `${name} line ${fault.line} (byte ${fault.byte}): ${fault.why}.${outlook}`)
  }
  if (lost > 0) return found(name, 'bad', `${name}: ${lost} lines follow upon what is missing.`)
  const range = lines === 0 ? '' : ` (${first}–${last})`
  const whole = `${name} is whole: ${transactions(lines)}${range}`
  if (torn === 0) return found(name, 'good', `${whole}.`)
  return found(
    name,
    'note',
    `${whole}, then ${torn} bytes that were never acknowledged; a start saves them aside.`,
  )
}

function straysFinding({ entries }: Survey): Finding[] {
  const strays = entries.filter(({ name }) => isTemporary(name) || /^lock-\d+-[0-9a-f]{8}$/.test(name))
  if (strays.length === 0) return []
  const names = strays.map(({ name }) => name).join(', ')
  return [
    found('temporary files', 'note', `Left by a process that was killed: ${names}. A start removes them.`),
  ]
}

function asideFinding({ entries }: Survey): Finding[] {
  const aside = entries.filter(({ name }) => /\.(?:damaged|torn)-\d+$/.test(name))
  if (aside.length === 0) return []
  const names = aside.map(({ name }) => name).join(', ')
  return [found('kept aside', 'good', `Kept aside, for you to delete: ${names}.`)]
}

function sizesFinding({ entries }: Survey): Finding {
  const files = entries.filter(({ folder }) => !folder)
  const bytes = files.reduce((sum, { size }) => sum + size, 0)
  return found('size', 'good', `${files.length} files, ${(bytes / 1e6).toFixed(1)} MB.`)
}
