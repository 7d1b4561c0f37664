import { decodeLine, isBeginningOfLine, type Transaction, readWrites } from './line.ts'

interface Place {
  /** Counted from 1. */
  number: number
  /** First byte of the line, and of the text after its line break. */
  start: number
  end: number
}

/** A line of a journal, with what it is on its own. */
export type JournalLine = Place &
  (
    | { kind: 'whole'; transaction: Transaction; ended: boolean }
    /** The end of the file, which was not written completely and so never acknowledged. */
    | { kind: 'torn' }
    /** The checksum does not match. */
    | { kind: 'damaged' }
    /** Whole, but written by a newer version. */
    | { kind: 'newer'; why: string }
  )

const LINE_BREAK = 0x0a
const CARRIAGE_RETURN = 0x0d
const BYTE_ORDER_MARK = Buffer.from([0xef, 0xbb, 0xbf])

/**
 * Returns the lines of a journal. Accepts a byte order mark and carriage returns, which editors on Windows add. Treats zeros
 * up to the end of the file as torn: after a power cut, a file may have grown before its bytes were written.
 */
export function* scanJournal(bytes: Buffer): Generator<JournalLine, void> {
  const written = bytes.subarray(0, lengthWithoutZeros(bytes))
  let start = bytes.subarray(0, 3).equals(BYTE_ORDER_MARK) ? 3 : 0
  for (let number = 1; start < bytes.length; number += 1) {
    const line = lineAt(written, number, start)
    const last = line.end === written.length && !endsWithBreak(written, line)
    const torn = last && line.kind !== 'whole' && isTorn(written.subarray(start))
    if (!torn) yield line
    if (!torn) start = line.end
    if (last && start < bytes.length && (torn || start >= written.length)) {
      yield { number, start, end: bytes.length, kind: 'torn' }
      return
    }
  }
}

function lineAt(written: Buffer, number: number, start: number): JournalLine {
  const lineBreak = written.indexOf(LINE_BREAK, start)
  const ended = lineBreak !== -1
  const place = { number, start, end: ended ? lineBreak + 1 : written.length }
  const line = decodeLine(withoutReturn(written.subarray(start, ended ? lineBreak : written.length)))
  if (line === undefined) return { ...place, kind: 'damaged' }
  if ('newerFormat' in line) return { ...place, kind: 'newer', why: `its "format" is ${line.newerFormat}` }
  const read = readWrites(line.writes)
  if ('stranger' in read)
    return {
      ...place,
      kind: 'newer',
      why: `it contains an unknown write to ${JSON.stringify(read.stranger.collection)}`,
    }
  return { ...place, kind: 'whole', transaction: { sequence: line.sequence, writes: read.writes }, ended }
}

function endsWithBreak(written: Buffer, { start, end }: Place): boolean {
  return end > start && written[end - 1] === LINE_BREAK
}

function isTorn(rest: Buffer): boolean {
  return isBeginningOfLine(withoutReturn(rest))
}

function withoutReturn(text: Buffer): Buffer {
  return text.at(-1) === CARRIAGE_RETURN ? text.subarray(0, -1) : text
}

function lengthWithoutZeros(bytes: Buffer): number {
  let length = bytes.length
  while (length > 0 && bytes[length - 1] === 0) length -= 1
  return length
}
