import { freeName } from '../recover.ts'
import { bytesOf, type JournalVerdict, type StoreVerdict } from './judge.ts'
import { modeWanted, type Survey } from './survey.ts'
import { snapshotOf } from './salvage.ts'
import { chmod, copyFile, constants, link, rename } from 'node:fs/promises'
import { join } from 'node:path'
import { apiKeyPattern } from '../../model/api-key.ts'
import { syncDirectory } from '../../replace-file.ts'
import { OWNER_ONLY, writeNewFile } from '../disk.ts'
import { newTemporary } from '../snapshot/adapter.ts'
import { count } from '../../model/text/count.ts'

/** One step of a repair; no step deletes data. `message` is printed after the step. */
type RepairStep = { name: string; message: string } & (
  | { do: 'set mode'; mode: number }
  | { do: 'move aside'; as: string }
  /** Keeps the file under another name and replaces it atomically. */
  | { do: 'replace'; as: string; content: Buffer }
  | { do: 'make empty' }
)

/** Plans the steps that make a start succeed and keep the most data. Empty when none is needed or allowed. */
export function planRepair(survey: Survey, verdict: StoreVerdict): RepairStep[] {
  if (survey.holder !== undefined || survey.access !== 'ok') return []
  const records = verdict.newer || isUnreadable(survey) ? [] : planRecords(survey, verdict)
  return [...planModes(survey), ...planCredentials(survey), ...records]
}

function isUnreadable({ snapshot, old, current }: Survey): boolean {
  return [snapshot, old, current].some((content) => typeof content === 'string')
}

function planModes({ entries, mode }: Survey): RepairStep[] {
  const all = [{ name: '.', mode, size: 0, folder: true }, ...entries]
  return all.flatMap((entry): RepairStep[] => {
    const wanted = modeWanted(entry)
    if (wanted === undefined) return []
    const message = `${entry.name === '.' ? 'The directory' : entry.name} was open to other users (mode ${octal(entry.mode)}). The mode is now ${octal(wanted)}.`
    return [{ do: 'set mode', name: entry.name, mode: wanted, message }]
  })
}

function planCredentials({ credentials, entries }: Survey): RepairStep[] {
  if (!Buffer.isBuffer(credentials) || holdsKey(credentials)) return []
  const as = freeName(namesOf(entries), 'credentials.json.damaged')
  const message = `credentials.json contained no API key and was moved to ${as}. The next start creates a new key.`
  return [{ do: 'move aside', name: 'credentials.json', as, message }]
}

/** Ordered so that a start fails until the last step, in case the repair is interrupted. */
function planRecords(survey: Survey, verdict: StoreVerdict): RepairStep[] {
  const { current, old } = verdict.journals
  return [
    ...planJournal('journal.ndjson', bytesOf(survey.current), current, survey),
    ...planJournal('journal.old.ndjson', bytesOf(survey.old), old, survey),
    ...planJournalMissing(verdict),
    ...planSnapshot(survey, verdict),
  ]
}

function planJournal(
  name: string,
  bytes: Buffer | undefined,
  verdict: JournalVerdict | undefined,
  { entries }: Survey,
): RepairStep[] {
  if (bytes === undefined || verdict === undefined) return []
  const { damage, kept, lost } = verdict
  if (damage === undefined && lost === 0) return []
  const as = freeName(namesOf(entries), `${name}.damaged`)
  const content = Buffer.concat(kept.map(({ start, end }) => bytes.subarray(start, end)))
  const left =
    lost === 0 ? 'Nothing was lost' : `${count(lost, 'line')} could not be kept${from(damage?.line)}`
  const message = `${name}: ${count(kept.length, 'transaction')} kept. ${left}. The original file is ${as}.`
  return [{ do: 'replace', name, as, content, message }]
}

function planJournalMissing({ journalMissing, base, known }: StoreVerdict): RepairStep[] {
  if (!journalMissing || base === 'start empty') return []
  const message = `journal.ndjson was missing, so an empty one was created. Writes after transaction ${known} are lost.`
  return [{ do: 'make empty', name: 'journal.ndjson', message }]
}

function planSnapshot({ entries }: Survey, { snapshot, base, known }: StoreVerdict): RepairStep[] {
  if (snapshot.kind !== 'damaged') return []
  const as = freeName(namesOf(entries), 'db.json.damaged')
  const aside = `The original file is ${as}.`
  if (base !== 'salvage') {
    const message =
      base === 'start empty' ? NOTHING_LEFT : 'db.json was damaged, but the journals contain all data'
    return [{ do: 'move aside', name: 'db.json', as, message: `${message}. ${aside}` }]
  }
  const { kept, lost, firstLost } = snapshot.salvaged
  const left = lost === 0 ? 'without losses' : `${count(lost, 'line')} could not be read${from(firstLost)}`
  const consequence =
    lost === 0 ? '' : ' `state load` refuses states saved from here while a kept record refers to a lost one.'
  const message = `db.json was rebuilt from ${kept} records, ${left}.${consequence} ${aside}`
  return [{ do: 'replace', name: 'db.json', as, content: snapshotOf(snapshot.salvaged, known), message }]
}

const NOTHING_LEFT = 'db.json has no readable locations, so the next start begins with an empty store'

export function holdsKey(bytes: Buffer): boolean {
  try {
    const { api_key } = JSON.parse(bytes.toString()) as { api_key?: unknown }
    return typeof api_key === 'string' && apiKeyPattern.test(api_key)
  } catch {
    return false
  }
}

export function octal(mode: number): string {
  return mode.toString(8).padStart(4, '0')
}

function from(line: number | undefined): string {
  return line === undefined ? '' : ` (from line ${line})`
}

function namesOf(entries: Survey['entries']): string[] {
  return entries.map(({ name }) => name)
}

/** Applies the steps, each durably before the next. */
export async function applyRepair(directory: string, steps: readonly RepairStep[]): Promise<void> {
  for (const step of steps) {
    await applyStep(directory, step)
    await syncDirectory(directory)
  }
}

async function applyStep(directory: string, step: RepairStep): Promise<void> {
  const path = join(directory, step.name)
  if (step.do === 'set mode') return chmod(path, step.mode)
  if (step.do === 'make empty') return writeNewFile(path, Buffer.alloc(0))
  const aside = join(directory, step.as)
  if (step.do === 'replace') {
    const temporary = newTemporary(directory)
    await writeNewFile(temporary, step.content)
    await keepAlso(path, aside)
    await rename(temporary, path)
  } else await rename(path, aside)
  await chmod(aside, OWNER_ONLY)
}

/** Keeps a file under a second name by a hard link, or else a copy; overwrites no file. */
async function keepAlso(path: string, aside: string): Promise<void> {
  try {
    await link(path, aside)
  } catch {
    await copyFile(path, aside, constants.COPYFILE_EXCL)
  }
}
