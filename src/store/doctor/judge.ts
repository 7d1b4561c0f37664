import { gapText, WRONG_CHECKSUM } from '../journal/replay.ts'
import type { CollectionName } from '../../model/records.ts'
import type { StoreFile } from '../disk.ts'
import { StoreDamaged, StoreTooNew } from '../errors.ts'
import { scanJournal } from '../journal/scan.ts'
import { notASnapshot, parseSnapshot } from '../snapshot/parse.ts'
import type { Snapshot } from '../snapshot/text.ts'
import { collectionNames } from '../tables/tables.ts'
import { salvage, type Salvaged } from './salvage.ts'
import type { Content, Survey } from './survey.ts'

/** The state of all files that hold records. */
export interface StoreVerdict {
  snapshot: SnapshotVerdict
  /** How to repair a damaged snapshot; `keep` for any other. */
  base: 'keep' | 'journals hold all' | 'salvage' | 'start empty'
  /** Number of the transaction that the journals continue from. */
  known: number
  journals: JournalsVerdict
  /** First transaction of the journals when the snapshot is missing that held the earlier ones. */
  missingBefore: number | undefined
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
  const before = firstOf(judged) ?? 0
  return {
    snapshot,
    missingBefore: snapshot.kind === 'none' && before > 0 ? before + 1 : undefined,
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
  const { sequence = 0, records, kept } = snapshot.salvaged
  // A file that was written by hand has no number, and its records are in no journal.
  if (holdsAll(fromNothing))
    return { base: sequence === 0 && kept > 0 ? 'salvage' : 'journals hold all', known: 0 }
  // Every record belongs to a location; without locations the rest could not be found.
  if ((records.locations ?? []).length === 0) return { base: 'start empty', known: 0 }
  return { base: 'salvage', known: firstOf(fromNothing) ?? sequence }
}

function holdsAll({ old, current, last }: JournalsVerdict): boolean {
  return last > 0 && [old, current].every((journal) => journal?.damage === undefined && !journal?.lost)
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

function fileOf({ shown }: Survey): StoreFile {
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

function judgeSnapshot(bytes: Buffer | undefined, file: StoreFile): SnapshotVerdict {
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
  throw notASnapshot(shown, `two of its ${repeated} have the same "id"`)
}

function repeats(records: Snapshot['records'], name: CollectionName): boolean {
  const ids = [...records[name]].map(({ id }: { id: string }) => id)
  return new Set(ids).size < ids.length
}

/** A line that cannot be kept, and why. */
interface Damage {
  line: number
  byte: number
  why: string
}

/** The state of one journal, and what of it can be kept. */
export interface JournalVerdict {
  /** Number of whole lines, and their first and last transaction. */
  lines: number
  first: number | undefined
  last: number | undefined
  /** Bytes at the end that were never acknowledged. */
  torn: number
  /** The first line is whole, so the journal starts with `first`. */
  beginsWhole: boolean
  /** The first problem that makes a start fail. */
  damage: Damage | undefined
  /** Written by a newer version. */
  newer: boolean
  /** Lines that continue the known transactions. */
  kept: readonly LinePosition[]
  /** Number of lines that cannot be kept. */
  lost: number
}

interface LinePosition {
  number: number
  start: number
  end: number
}

interface JournalsVerdict {
  old: JournalVerdict | undefined
  current: JournalVerdict | undefined
  /** Number of the last transaction that can be kept. */
  last: number
}

interface JournalBytes {
  old: Buffer | undefined
  current: Buffer | undefined
}

/**
 * Judges what of the journals can be kept after transaction `known`: whole lines without a gap. Lines after a gap depend on
 * missing transactions and are not kept.
 */
function judgeJournals(known: number, { old, current }: JournalBytes): JournalsVerdict {
  const chain = { last: known, broken: false }
  const first = old && judgeJournal(old, chain)
  if (first !== undefined && first.torn > 0 && (current?.length ?? 0) > 0) {
    chain.broken = true
    first.damage ??= { line: first.lines + 1, byte: (old?.length ?? 0) - first.torn, why: TORN_BETWEEN }
  }
  return { old: first, current: current && judgeJournal(current, chain), last: chain.last }
}

const TORN_BETWEEN = 'the line is incomplete, but another journal follows'

/** `broken`: a transaction is missing, so no later one can be kept. */
interface Chain {
  last: number
  broken: boolean
}

function judgeJournal(bytes: Buffer, chain: Chain): MutableVerdict {
  const verdict = emptyVerdict()
  for (const line of scanJournal(bytes)) {
    if (line.kind === 'torn') verdict.torn = line.end - line.start
    else if (line.kind === 'whole') follow(verdict, line, line.transaction.sequence, chain)
    else {
      verdict.newer ||= line.kind === 'newer'
      verdict.lost += 1
      fail(verdict, line, line.kind === 'newer' ? line.why : WRONG_CHECKSUM)
    }
  }
  return verdict
}

function follow(
  verdict: MutableVerdict,
  { number, start, end }: LinePosition,
  sequence: number,
  chain: Chain,
): void {
  verdict.beginsWhole ||= number === 1
  verdict.lines += 1
  verdict.first ??= sequence
  verdict.last = sequence
  if (sequence > chain.last + 1 && !chain.broken) {
    chain.broken = true
    fail(verdict, { number, start }, gapText(sequence, chain.last + 1))
  }
  if (chain.broken) verdict.lost += 1
  else if (sequence > chain.last) {
    verdict.kept.push({ number, start, end })
    chain.last = sequence
  }
}

function fail(verdict: MutableVerdict, { number, start }: Omit<LinePosition, 'end'>, why: string): void {
  verdict.damage ??= { line: number, byte: start, why }
}

type MutableVerdict = JournalVerdict & { kept: LinePosition[] }

function emptyVerdict(): MutableVerdict {
  return {
    lines: 0,
    first: undefined,
    last: undefined,
    torn: 0,
    beginsWhole: false,
    damage: undefined,
    newer: false,
    kept: [],
    lost: 0,
  }
}
