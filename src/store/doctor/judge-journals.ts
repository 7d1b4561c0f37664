import { scanJournal } from '../journal/scan.ts'

/** A line that cannot be kept, and why. */
export interface Fault {
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
  fault: Fault | undefined
  /** Written by a newer version. */
  newer: boolean
  /** The parts that continue the known transactions, and the number of lines that cannot be kept. */
  kept: readonly Piece[]
  lost: number
}

export interface Piece {
  number: number
  start: number
  end: number
}

export interface JournalsVerdict {
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
export function judgeJournals(known: number, { old, current }: JournalBytes): JournalsVerdict {
  const chain = { last: known, broken: false }
  const first = old && judgeJournal(old, chain)
  if (first !== undefined && first.torn > 0 && (current?.length ?? 0) > 0) {
    chain.broken = true
    first.fault ??= { line: first.lines + 1, byte: (old?.length ?? 0) - first.torn, why: TORN_BETWEEN }
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
      fail(verdict, line, line.kind === 'newer' ? line.why : 'its checksum does not match')
    }
  }
  return verdict
}

function follow(
  verdict: MutableVerdict,
  { number, start, end }: Piece,
  sequence: number,
  chain: Chain,
): void {
  verdict.beginsWhole ||= number === 1
  verdict.lines += 1
  verdict.first ??= sequence
  verdict.last = sequence
  if (sequence > chain.last + 1 && !chain.broken) {
    chain.broken = true
    const why = `it contains transaction ${sequence}, expected ${chain.last + 1}`
    fail(verdict, { number, start }, why)
  }
  if (chain.broken) verdict.lost += 1
  else if (sequence > chain.last) {
    verdict.kept.push({ number, start, end })
    chain.last = sequence
  }
}

function fail(verdict: MutableVerdict, { number, start }: Omit<Piece, 'end'>, why: string): void {
  verdict.fault ??= { line: number, byte: start, why }
}

type MutableVerdict = JournalVerdict & { kept: Piece[] }

function emptyVerdict(): MutableVerdict {
  return {
    lines: 0,
    first: undefined,
    last: undefined,
    torn: 0,
    beginsWhole: false,
    fault: undefined,
    newer: false,
    kept: [],
    lost: 0,
  }
}
