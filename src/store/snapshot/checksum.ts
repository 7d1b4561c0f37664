import { hex } from '../journal/line.ts'

/** The part of a snapshot that its checksum vouches for. */
export interface Checksummed {
  /** In bytes. */
  size: number
  crc: number
}

/** The comma comes first, so that a file without this line is whole: who edits the file takes the line away. */
export function checksumLine(crc: number): string {
  return `  ,"checksum": "${hex(crc)}"\n}\n`
}

const CHECKSUM_LINE = /\n {2},"checksum": "([0-9a-f]{8})"\n\}\n$/
const CHECKSUM_LINE_BYTES = checksumLine(0).length
/** With the line break before it. */
export const LAST_BYTES = CHECKSUM_LINE_BYTES + 1

/** What a file's last bytes say that its checksum vouches for; `undefined` when there is no checksum in its place. */
export function checksummedPart(end: Buffer, fileSize: number): Checksummed | undefined {
  const written = CHECKSUM_LINE.exec(end.toString('latin1', Math.max(end.length - LAST_BYTES, 0)))?.[1]
  return written === undefined
    ? undefined
    : { size: fileSize - CHECKSUM_LINE_BYTES, crc: Number.parseInt(written, 16) }
}
