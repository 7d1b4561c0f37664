import { open, type FileHandle } from 'node:fs/promises'
import { crc32 } from 'node:zlib'

/** The part of a snapshot that its checksum vouches for. */
export interface Vouched {
  /** In bytes. */
  size: number
  crc: number
}

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
   * @throws OldLinesDiffer when it is not there.
   */
  find(id: string): Buffer | undefined
  /** Reads on. */
  more(): Promise<void>
  /** Reads to the end. @throws OldLinesDiffer when the file is not as its checksum says. */
  check(): Promise<void>
  close(): Promise<void>
}

const BLOCK = 256 * 1024
const LINE_BREAK = 0x0a
const COMMA = 0x2c
const QUOTE = 0x22
/** What every line of a record begins with. */
const INDENT = '    '
const HEAD = `${INDENT}{"id":"`

/** @throws OldLinesDiffer, as reading them does. */
export async function openOldLines(path: string, { size, crc }: Vouched): Promise<OldLines> {
  const file = await open(path, 'r').catch(differs)
  let text: Buffer = Buffer.alloc(0)
  let at = 0
  let position = 0
  let read = 0

  const more = async () => {
    if (position === size) throw new OldLinesDiffer()
    const block = await readBlock(file, position, Math.min(BLOCK, size - position))
    position += block.length
    read = crc32(block, read)
    const rest = text.subarray(at)
    text = rest.length === 0 ? block : Buffer.concat([rest, block])
    at = 0
  }
  return {
    find(id) {
      for (let end = text.indexOf(LINE_BREAK, at); end !== -1; end = text.indexOf(LINE_BREAK, at)) {
        const start = at
        at = end + 1
        if (isOf(id, text, start)) return text.subarray(start + INDENT.length, withoutComma(text, end))
      }
      return undefined
    },
    more,
    async check() {
      while (position < size) await more()
      if (read !== crc) throw new OldLinesDiffer()
    },
    close: () => file.close(),
  }
}

async function readBlock(file: FileHandle, position: number, length: number): Promise<Buffer> {
  const { bytesRead, buffer } = await file
    .read(Buffer.allocUnsafe(length), 0, length, position)
    .catch(differs)
  if (bytesRead === 0) throw new OldLinesDiffer()
  return buffer.subarray(0, bytesRead)
}

function differs(cause: unknown): never {
  throw new OldLinesDiffer(undefined, { cause })
}

function isOf(id: string, text: Buffer, start: number): boolean {
  const end = start + HEAD.length + id.length
  return text[end] === QUOTE && text.toString('latin1', start, end) === HEAD + id
}

function withoutComma(text: Buffer, end: number): number {
  return text[end - 1] === COMMA ? end - 1 : end
}
