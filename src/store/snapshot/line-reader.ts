import type { FileHandle } from 'node:fs/promises'
import { crc32 } from 'node:zlib'

/** Reads a file line by line. */
export interface LineReader {
  /** Returns the next complete line without its line break; valid until `more`. */
  next(): Buffer | undefined
  /** Reads the next block; false at the end. */
  more(): Promise<boolean>
  /** Returns the bytes after the last line break; valid until `more`. */
  rest(): Buffer
  /** CRC-32 of all bytes read. */
  crc(): number
}

/** Bytes read at a time: with an eighth of it, a start with 300,000 checks waits a second and a half longer for the disk. */
const BLOCK = 2 * 1024 * 1024
const LINE_BREAK = 0x0a
/** The end of all lines of a list but the last. */
export const COMMA = 0x2c

/** Calls `take` for every remaining line. */
export async function eachLine(lines: LineReader, take: (line: Buffer) => void): Promise<void> {
  do {
    for (let line = lines.next(); line !== undefined; line = lines.next()) take(line)
  } while (await lines.more())
}

/** Reads the first `size` bytes of a file. */
export function createLineReader(file: FileHandle, size: number): LineReader {
  // Reused for all blocks.
  let memory = Buffer.allocUnsafe(Math.min(2 * BLOCK, size))
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
      const wanted = Math.min(BLOCK, size - position)
      if (rest.length + wanted > memory.length) memory = Buffer.concat([rest], 2 * memory.length)
      else memory.set(rest)
      const { bytesRead } = await file.read(memory, rest.length, wanted, position)
      text = memory.subarray(0, rest.length + bytesRead)
      at = 0
      position += bytesRead
      crc = crc32(text.subarray(rest.length), crc)
      return bytesRead > 0
    },
    rest: () => text.subarray(at),
    crc: () => crc,
  }
}
