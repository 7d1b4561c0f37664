import { open } from 'node:fs/promises'
import { COMMA, createLineReader, eachLine } from './line-reader.ts'
import type { Checksummed } from './checksum.ts'

/** The snapshot that is there cannot be read, or is not what was written. */
export class OldLinesDiffer extends Error {
  override readonly name = 'OldLinesDiffer'
  override readonly message = 'the snapshot on the disk is not as it was written'
}

/** The records of the snapshot that is there, as lines to be copied into the next one: to copy one takes a tenth of making it. */
export interface OldLines {
  /**
   * The text of the record with this id; or `undefined` when more must be read first. Those before it are passed over:
   * records are asked for in the order in which the file has them.
   */
  find(id: string): Buffer | undefined
  /** Reads on. @throws OldLinesDiffer when there is no more. */
  more(): Promise<void>
  /** Reads to the end. @throws OldLinesDiffer when the file is not as its checksum says. */
  check(): Promise<void>
  close(): Promise<void>
}

const QUOTE = 0x22
/** What every line of a record begins with. */
const INDENT = '    '
const HEAD = `${INDENT}{"id":"`

/** @throws OldLinesDiffer, as reading them does. */
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
