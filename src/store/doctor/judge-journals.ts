import { scanJournal } from '../journal/scan.ts'

/** A line that cannot be kept, and why. */
export interface Fault {
  line: number
  byte: number
  why: string
}

/** What is in one journal, and what of it can be kept. */
export interface JournalVerdict {
  /** Whole lines, and the numbers of the first and last transaction in them. */
  lines: number
  first: number | undefined
  last: number | undefined
  /** Bytes at the end that were never acknowledged. */
  torn: number
  /** The first line is whole, so that `first` is where the journal began. */
  beginsWhole: boolean
  /** The first thing wrong with it that a start refuses. */
  fault: Fault | undefined
  /** Written by a version that knows more. */
  newer: boolean
  /** The pieces of the file that go on from what is known, and how many lines from there on do not. */
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
  /** The number of the last transaction that can be kept. */
  last: number
}

interface JournalBytes {
  old: Buffer | undefined
  current: Buffer | undefined
}

/**
 * What can be kept of the journals when everything up to transaction `known` is there: each line that is whole and
 * follows without a gap. What comes after a gap was decided upon what is missing, so it is not kept.
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

const TORN_BETWEEN = 'the line is not whole, though another journal follows'

/** `broken`: something is missing, and nothing after it can be kept. */
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
    const why = `it holds transaction ${sequence} where ${chain.last + 1} should follow`
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
