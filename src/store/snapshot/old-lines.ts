import { open } from 'node:fs/promises'
import { COMMA, createLineReader, eachLine, type Checksummed } from './line-reader.ts'

/** The snapshot on disk is unreadable, or not as it was written. */
export class OldLinesDiffer extends Error {
  override readonly name = 'OldLinesDiffer'
  override readonly message = 'the snapshot on the disk is not as it was written'
}

/** Lines of the snapshot on disk, copied into the next one. Copying a record takes a tenth of serialising it. */
export interface OldLines {
  /**
   * Returns the line of a record; `undefined` when more must be read first. Skips all lines before it, so ids must be given
   * in the order of the file.
   */
  find(id: string): Buffer | undefined
  /** Reads the next block. @throws OldLinesDiffer at the end. */
  more(): Promise<void>
  /** Reads to the end. @throws OldLinesDiffer when the checksum does not match. */
  check(): Promise<void>
  close(): Promise<void>
}

const QUOTE = 0x22
/** The start of a record's line. */
const INDENT = '    '
const HEAD = `${INDENT}{"id":"`

/** @throws OldLinesDiffer when the file cannot be opened. */
export async function openOldLines(path: string, { size, crc }: Checksummed): Promise<OldLines> {
  const file = await open(path, 'r').catch(differs)
  const lines = createLineReader(file, size)
  return {
    find(id) {
      for (let line = lines.next(); line !== undefined; line = lines.next())
        if (isOf(id, line)) return line.subarray(INDENT.length, line.at(-1) === COMMA ? -1 : undefined)
      return undefined
    },
    async more() {
      if (!(await lines.more().catch(differs))) throw new OldLinesDiffer()
    },
    async check() {
      await eachLine(lines, () => {}).catch(differs)
      if (lines.crc() !== crc) throw new OldLinesDiffer()
    },
    close: () => file.close(),
  }
}

function differs(cause: unknown): never {
  throw new OldLinesDiffer(undefined, { cause })
}

function isOf(id: string, line: Buffer): boolean {
  const end = HEAD.length + id.length
  return line[end] === QUOTE && line.toString('latin1', 0, end) === HEAD + id
}
