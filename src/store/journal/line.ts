import { crc32 } from 'node:zlib'
import type { Write } from '../../model/records.ts'

/** One transaction as the journal holds it. */
export interface Transaction {
  sequence: number
  writes: readonly Write[]
}

/** Goes up when older versions of Tabwire could no longer read a line. */
export const JOURNAL_FORMAT = 1

/**
 * Makes one text of the lines of transactions with numbers from `first` on, given the texts of their writes. A line is JSON
 * itself: `{"format":1,"sequence":1,"crc32":"89abcdef","writes":[…]}`. The checksum is over `1/1`, which are the format and
 * the sequence number, and the text of the writes, which can be cut out and checked as it is. Lines of earlier versions
 * have no format, and no `1/` in what the checksum is over.
 */
export type LineEncoder = (first: number, transactions: readonly string[]) => Buffer

/** What it makes is good until it is asked for more: all is written into the same memory, which is made once. */
export function createLineEncoder(): LineEncoder {
  let memory = Buffer.alloc(0)
  return (first, transactions) => {
    const most = transactions.reduce(
      (sum, { length }) => sum + MAX_OVERHEAD + MAX_BYTES_PER_CHARACTER * length,
      0,
    )
    if (memory.length < most) memory = Buffer.allocUnsafe(most)
    let end = 0
    for (const [index, writes] of transactions.entries()) end = writeLine(memory, end, first + index, writes)
    const lines = memory.subarray(0, end)
    if (memory.length > MAX_KEPT) memory = Buffer.alloc(0)
    return lines
  }
}

/** Writes a line and returns its end. */
function writeLine(memory: Buffer, begin: number, sequence: number, writes: string): number {
  const number = String(sequence)
  const start = begin + HEAD_LENGTH + number.length
  const end = start + memory.write(writes, start)
  const crc32 = checksum(`${JOURNAL_FORMAT}/${number}`, memory.subarray(start, end))
  const head = `{"format":${JOURNAL_FORMAT},"sequence":${number},"crc32":"${crc32}","writes":`
  memory.write(head, begin, 'latin1')
  return end + memory.write(TAIL, end, 'latin1')
}

/** But for the digits of the sequence number. */
const HEAD_LENGTH = `{"format":${JOURNAL_FORMAT},"sequence":,"crc32":"89abcdef","writes":`.length
const TAIL = '}\n'
/** What a line is longer than its writes, at most. */
const MAX_OVERHEAD = HEAD_LENGTH + TAIL.length + 16
/** In UTF-8. */
export const MAX_BYTES_PER_CHARACTER = 3
/** What a crowd, or one large state, needed is not kept. */
const MAX_KEPT = 1024 * 1024

const HEAD = /^\{(?:"format":(\d{1,4}),)?"sequence":(\d{1,16}),"crc32":"([0-9a-f]{8})","writes":/
/** What every version begins its lines with. */
const FORMAT = /^\{"format":([1-9]\d{0,3})[,}]/
/** More than the longest head takes. */
const HEAD_BYTES = 64
const BRACE = 0x7d

/**
 * What is in a line (without its line break), or `undefined` when a bit of it is not as it was written; `newerFormat` of one
 * that only a later version can read.
 */
export function decodeLine(
  line: Buffer,
): { sequence: number; writes: string } | { newerFormat: number } | undefined {
  const start = line.toString('latin1', 0, HEAD_BYTES)
  const [head = '', format, sequence = '', crc32] = HEAD.exec(start) ?? []
  const writes = line.subarray(head.length, -1)
  // In the present format: a digit of it that was damaged makes no newer line of this one.
  const covered = format === undefined ? sequence : `${JOURNAL_FORMAT}/${sequence}`
  const isSound = head !== '' && line.at(-1) === BRACE && checksum(covered, writes) === crc32
  const isPresent = format === undefined || Number(format) === JOURNAL_FORMAT
  if (isSound && isPresent) return { sequence: Number(sequence), writes: writes.toString() }
  const newerFormat = isSound ? 0 : Number(FORMAT.exec(start)?.[1] ?? 0)
  return newerFormat > JOURNAL_FORMAT ? { newerFormat } : undefined
}

/**
 * Whether a text is the beginning of a line whose rest never reached the disk. A whole line with something behind it is
 * not: there a line break was damaged, and what it ended had been acknowledged.
 */
export function isBeginningOfLine(text: Buffer): boolean {
  const start = text.toString('latin1', 0, HEAD_BYTES)
  const isKnown = ['{"format":', '{"sequence":'].some((known) =>
    start.startsWith(known.slice(0, start.length)),
  )
  return isKnown && !closesBeforeItsEnd(text.toString('latin1'))
}

function closesBeforeItsEnd(text: string): boolean {
  const outline = text.replace(/"(?:[^"\\]|\\.)*(?:"|$)/gs, '')
  let depth = 0
  for (const character of outline) {
    if (character === '{' || character === '[') depth += 1
    if (character === '}' || character === ']') depth -= 1
    if (depth === 0) return true
  }
  return false
}

export function checksum(first: string, then: string | Uint8Array): string {
  return hex(crc32(then, crc32(first)))
}

/** Eight digits, so that the place of what follows is known. */
export function hex(crc: number): string {
  return crc.toString(16).padStart(8, '0')
}
