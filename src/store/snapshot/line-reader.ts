import type { FileHandle } from 'node:fs/promises'
import { crc32 } from 'node:zlib'

/** The lines of a file, which need not be in memory as a whole. */
export interface LineReader {
  /** The next line that has been read to its end, without its line break; good until more is read. */
  next(): Buffer | undefined
  /** Reads on, and tells whether there was more. */
  more(): Promise<boolean>
  /** The checksum of all that was read. */
  crc(): number
}

const BLOCK = 256 * 1024
const LINE_BREAK = 0x0a
/** What lines of a list end with, but for the last. */
export const COMMA = 0x2c

/** Hands on every line that is left, to the end. */
export async function eachLine(lines: LineReader, take: (line: Buffer) => void): Promise<void> {
  do {
    for (let line = lines.next(); line !== undefined; line = lines.next()) take(line)
  } while (await lines.more())
}

/** Reads the first `size` bytes of a file. */
export function createLineReader(file: FileHandle, size: number): LineReader {
  // Made once: files of hundreds of blocks are read.
  let memory = Buffer.allocUnsafe(2 * BLOCK)
  let text = memory.subarray(0, 0)
  let at = 0
  let position = 0
  let crc = 0
  return {
    next() {
      const end = text.indexOf(LINE_BREAK, at)
      if (end === -1) return undefined
      const line = text.subarray(at, end)
      at = end + 1
      return line
    },
    async more() {
      const rest = text.subarray(at)
      if (rest.length + BLOCK > memory.length) memory = Buffer.concat([rest], 2 * memory.length)
      else memory.set(rest)
      const wanted = Math.min(BLOCK, size - position)
      const { bytesRead } = await file.read(memory, rest.length, wanted, position)
      text = memory.subarray(0, rest.length + bytesRead)
      at = 0
      position += bytesRead
      crc = crc32(text.subarray(rest.length), crc)
      return bytesRead > 0
    },
    crc: () => crc,
  }
}
