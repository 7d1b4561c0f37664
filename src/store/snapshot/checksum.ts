import { hex } from '../journal/line.ts'

/** The part of a snapshot that its checksum covers. */
export interface Checksummed {
  /** In bytes. */
  size: number
  crc: number
}

/** Returns the last line. It starts with the comma, so that the file stays valid JSON when an editor removes the line. */
export function checksumLine(crc: number): string {
  return `  ,"checksum": "${hex(crc)}"\n}\n`
}

const CHECKSUM_LINE = /\n {2},"checksum": "([0-9a-f]{8})"\n\}\n$/
const CHECKSUM_LINE_BYTES = checksumLine(0).length
/** Includes the line break before it. */
export const LAST_BYTES = CHECKSUM_LINE_BYTES + 1

/** Reads the checksum from the last bytes of a file; `undefined` when there is none. */
export function checksummedPart(end: Buffer, fileSize: number): Checksummed | undefined {
  const written = CHECKSUM_LINE.exec(end.toString('latin1', Math.max(end.length - LAST_BYTES, 0)))?.[1]
  return written === undefined
    ? undefined
    : { size: fileSize - CHECKSUM_LINE_BYTES, crc: Number.parseInt(written, 16) }
}
