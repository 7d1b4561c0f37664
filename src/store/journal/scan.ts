import { eachLine, type LineReader } from '../snapshot/line-reader.ts'
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
    | { kind: 'torn'; bytes: Buffer }
    /** The checksum does not match. */
    | { kind: 'damaged' }
    /** Whole, but written by a newer version. */
    | { kind: 'newer'; why: string }
  )

const LINE_BREAK = 0x0a
const CARRIAGE_RETURN = 0x0d
const BYTE_ORDER_MARK = Buffer.from([0xef, 0xbb, 0xbf])

/** Calls `take` for each line of a journal file, which is read in blocks. */
export async function scanFile(lines: LineReader, take: (line: JournalLine) => void): Promise<void> {
  const next = { number: 1, start: 0 }
  await eachLine(lines, (bytes) => {
    const mark = next.start === 0 ? lengthOfMark(bytes) : 0
    const end = next.start + bytes.length + 1
    take(readLine(bytes.subarray(mark), { number: next.number, start: next.start + mark, end }, true))
    next.number += 1
    next.start = end
  })
  for (const line of scanJournal(lines.rest(), next)) take(line)
}

/**
 * Returns the lines of a journal, or of its end `from` a line on. Accepts a byte order mark and carriage returns, which
 * editors on Windows add. Treats zeros up to the end of the file as torn: after a power cut, a file may have grown before
 * its bytes were written.
 */
export function* scanJournal(
  bytes: Buffer,
  from: Pick<Place, 'number' | 'start'> = { number: 1, start: 0 },
): Generator<JournalLine, void> {
  const written = bytes.subarray(0, lengthWithoutZeros(bytes))
  let at = from.start === 0 ? lengthOfMark(bytes) : 0
  for (let number = from.number; at < bytes.length; number += 1) {
    const lineBreak = written.indexOf(LINE_BREAK, at)
    const ended = lineBreak !== -1
    const next = ended ? lineBreak + 1 : written.length
    const text = written.subarray(at, ended ? lineBreak : next)
    const line = readLine(text, { number, start: from.start + at, end: from.start + next }, ended)
    const torn = !ended && line.kind !== 'whole' && isBeginningOfLine(withoutReturn(text))
    if (!torn) {
      yield line
      at = next
    }
    if (!ended && at < bytes.length) {
      const [start, end] = [from.start + at, from.start + bytes.length]
      yield { number, start, end, kind: 'torn', bytes: bytes.subarray(at) }
      return
    }
  }
}

function readLine(text: Buffer, place: Place, ended: boolean): JournalLine {
  const line = decodeLine(withoutReturn(text))
  if (line === undefined) return { ...place, kind: 'damaged' }
  if ('newerFormat' in line) return { ...place, kind: 'newer', why: `its "format" is ${line.newerFormat}` }
  const read = readWrites(line.writes)
  if ('unknownWrite' in read)
    return {
      ...place,
      kind: 'newer',
      why: `it contains an unknown write to ${JSON.stringify(read.unknownWrite.collection)}`,
    }
  return { ...place, kind: 'whole', transaction: { sequence: line.sequence, writes: read.writes }, ended }
}

function lengthOfMark(bytes: Buffer): number {
  return bytes.subarray(0, BYTE_ORDER_MARK.length).equals(BYTE_ORDER_MARK) ? BYTE_ORDER_MARK.length : 0
}

function withoutReturn(text: Buffer): Buffer {
  return text.at(-1) === CARRIAGE_RETURN ? text.subarray(0, -1) : text
}

function lengthWithoutZeros(bytes: Buffer): number {
  let length = bytes.length
  while (length > 0 && bytes[length - 1] === 0) length -= 1
  return length
}
