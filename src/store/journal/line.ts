import { crc32 } from 'node:zlib'
import type { Write } from '../../model/records.ts'

/** One transaction of the journal. */
export interface Transaction {
  sequence: number
  writes: readonly Write[]
}

/** Increases when older versions of Tabwire could no longer read a line. */
export const JOURNAL_FORMAT = 1

/**
 * Encodes the lines of transactions numbered from `first` on, from the JSON of their writes. A line is JSON:
 * `{"format":1,"sequence":1,"crc32":"89abcdef","writes":[…]}`. The checksum covers `1/1`, the format and the sequence number,
 * and the text of the writes. Lines of earlier versions have no format, and their checksum covers no `1/`.
 */
export function encodeLines(first: number, transactions: readonly string[]): Buffer {
  const lines = transactions.map((writes, index) => {
    const sequence = String(first + index)
    const crc32 = checksum(`${JOURNAL_FORMAT}/${sequence}`, writes)
    return `{"format":${JOURNAL_FORMAT},"sequence":${sequence},"crc32":"${crc32}","writes":${writes}}\n`
  })
  return Buffer.from(lines.join(''))
}

const HEAD = /^\{(?:"format":(\d{1,4}),)?"sequence":(\d{1,16}),"crc32":"([0-9a-f]{8})","writes":/
/** The start of a line in every version. */
const FORMAT = /^\{"format":([1-9]\d{0,3})[,}]/
/** Longer than any head. */
const HEAD_BYTES = 64
const BRACE = 0x7d

/**
 * Decodes a line without its line break; `undefined` when it is damaged, `newerFormat` when only a later version can read
 * it.
 */
export function decodeLine(
  line: Buffer,
): { sequence: number; writes: string } | { newerFormat: number } | undefined {
  const start = line.toString('latin1', 0, HEAD_BYTES)
  const [head = '', format, sequence = '', crc32] = HEAD.exec(start) ?? []
  const writes = line.subarray(head.length, -1)
  // In the current format, so that a damaged digit does not pass for a newer format.
  const covered = format === undefined ? sequence : `${JOURNAL_FORMAT}/${sequence}`
  const isSound = head !== '' && line.at(-1) === BRACE && checksum(covered, writes) === crc32
  const isCurrent = format === undefined || Number(format) === JOURNAL_FORMAT
  if (isSound && isCurrent) return { sequence: Number(sequence), writes: writes.toString() }
  const newerFormat = isSound ? 0 : Number(FORMAT.exec(start)?.[1] ?? 0)
  return newerFormat > JOURNAL_FORMAT ? { newerFormat } : undefined
}

/**
 * True for the start of a line whose rest never reached the disk. False for a whole line with further text: its line break
 * is damaged, and it had been acknowledged.
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

/** Formats a checksum with eight digits, so that a line's head has a known length. */
export function hex(crc: number): string {
  return crc.toString(16).padStart(8, '0')
}
