import type { StoreFile } from '../disk.ts'
import { judgeJournals, type JournalsVerdict } from './judge-journals.ts'
import type { Content, Survey } from './survey.ts'
import type { CollectionName } from '../../model/records.ts'
import { StoreDamaged, StoreTooNew } from '../errors.ts'
import { parseSnapshot } from '../snapshot/parse.ts'
import type { Snapshot } from '../snapshot/text.ts'
import { collectionNames } from '../tables/tables.ts'
import { salvage, type Salvaged } from './salvage.ts'

/** The state of all files that hold records. */
export interface StoreVerdict {
  snapshot: SnapshotVerdict
  /** How to repair a damaged snapshot; `keep` when it is not damaged or missing. */
  base: 'keep' | 'journals hold all' | 'salvage' | 'start empty'
  /** Number of the transaction that the journals continue from. */
  known: number
  journals: JournalsVerdict
  /** A required journal is missing. */
  journalMissing: boolean
  /** A newer version wrote a part, so nothing may be changed. */
  newer: boolean
}

/** Judges the files of a survey. */
export function judgeStore(survey: Survey): StoreVerdict {
  const journals = { old: bytesOf(survey.old), current: bytesOf(survey.current) }
  const snapshot = judgeSnapshot(bytesOf(survey.snapshot), fileOf(survey))
  const { base, known } = baseOf(snapshot, judgeJournals(0, journals))
  const judged = judgeJournals(known, journals)
  return {
    snapshot,
    base,
    known,
    journals: judged,
    journalMissing: lacksJournal(survey, snapshot),
    newer: snapshot.kind === 'newer' || judged.old?.newer === true || judged.current?.newer === true,
  }
}

function baseOf(
  snapshot: SnapshotVerdict,
  fromNothing: JournalsVerdict,
): Pick<StoreVerdict, 'base' | 'known'> {
  if (snapshot.kind === 'whole') return { base: 'keep', known: snapshot.sequence }
  if (snapshot.kind !== 'damaged') return { base: 'keep', known: 0 }
  if (holdsAll(fromNothing)) return { base: 'journals hold all', known: 0 }
  const { sequence = 0, records } = snapshot.salvaged
  // Every record belongs to a location; without locations the rest could not be found.
  if ((records.locations ?? []).length === 0) return { base: 'start empty', known: 0 }
  return { base: 'salvage', known: firstOf(fromNothing) ?? sequence }
}

function holdsAll({ old, current, last }: JournalsVerdict): boolean {
  return last > 0 && [old, current].every((journal) => journal?.fault === undefined && !journal?.lost)
}

/**
 * Returns the number before the first journal line, when that line is whole. Replaying lines that a snapshot already holds
 * leads to the same records, and the snapshot's own number may be damaged.
 */
function firstOf({ old, current }: JournalsVerdict): number | undefined {
  const begin = (old?.lines ?? 0) > 0 ? old : current
  return begin?.first === undefined || !begin.beginsWhole ? undefined : begin.first - 1
}

function lacksJournal({ old, current, leftOpen }: Survey, snapshot: SnapshotVerdict): boolean {
  if (old !== undefined || current !== undefined || snapshot.kind === 'none') return false
  return leftOpen || (snapshot.kind === 'whole' && !snapshot.closed)
}

export function fileOf({ shown }: Survey): StoreFile {
  return { path: 'db.json', shown: `${shown}/db.json` }
}

export function bytesOf(content: Content): Buffer | undefined {
  return typeof content === 'string' ? undefined : content
}

/** The state of the snapshot, and what of a damaged one can be kept. */
export type SnapshotVerdict =
  | { kind: 'none' }
  | { kind: 'whole'; sequence: number; closed: boolean; records: number }
  | { kind: 'newer'; why: string }
  | { kind: 'damaged'; why: string; salvaged: Salvaged }

export function judgeSnapshot(bytes: Buffer | undefined, file: StoreFile): SnapshotVerdict {
  if (bytes === undefined) return { kind: 'none' }
  try {
    const { sequence, closed, records } = withoutRepeats(parseSnapshot(bytes, file), file)
    const total = collectionNames.reduce((sum, name) => sum + [...records[name]].length, 0)
    return { kind: 'whole', sequence, closed, records: total }
  } catch (error) {
    if (error instanceof StoreTooNew) return { kind: 'newer', why: error.message }
    if (error instanceof StoreDamaged)
      return { kind: 'damaged', why: error.message, salvaged: salvage(bytes) }
    throw error
  }
}

function withoutRepeats(snapshot: Snapshot, { shown }: StoreFile): Snapshot {
  const repeated = collectionNames.find((name) => repeats(snapshot.records, name))
  if (repeated === undefined) return snapshot
  throw new StoreDamaged(`${shown} is not a snapshot of Tabwire: two of its ${repeated} have the same "id".`)
}

function repeats(records: Snapshot['records'], name: CollectionName): boolean {
  const ids = [...records[name]].map(({ id }: { id: string }) => id)
  return new Set(ids).size < ids.length
}
