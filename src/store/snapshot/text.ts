import { open } from 'node:fs/promises'
import { noRecords, type CollectionName, type Collections } from '../../model/records.ts'
import type { Changes } from './changes.ts'
import { recordJson } from '../record-json.ts'
import { collectionNames } from '../tables/tables.ts'
import { hex } from '../journal/line.ts'
import { COMMA, createLineReader, eachLine } from './line-reader.ts'

/** All records as of one transaction. */
export interface Snapshot {
  /** The number of that transaction. */
  sequence: number
  /** True when the store was closed with it, so that it needs no journal. */
  closed: boolean
  records: { readonly [C in CollectionName]: Iterable<Collections[C]> }
  /** The records that differ from the snapshot on disk; all when unknown. */
  changes?: Pick<Changes, 'has'>
}

/** `undefined` asks the writer to read more old lines. */
export type Piece = string | Buffer | undefined

export function emptySnapshot(): Snapshot {
  return { sequence: 0, closed: false, records: noRecords }
}

/** Increases when older versions of Tabwire could no longer read the file. */
export const FORMAT = 1

/**
 * Returns the text of a snapshot without its checksum, in pieces: one record a line, to be readable and diffable. Unchanged
 * records are copied from the `old` lines.
 */
export function snapshotText(snapshot: Snapshot): Iterable<string>
export function snapshotText(snapshot: Snapshot, old: OldLines | undefined): Iterable<Piece>
export function* snapshotText(
  { sequence, closed, records, changes }: Snapshot,
  old?: OldLines,
): Iterable<Piece> {
  yield `{\n  "format": ${FORMAT},\n  "sequence": ${sequence},\n  "closed": ${closed}`
  for (const name of collectionNames) {
    yield `,\n  "${name}": [`
    let separator = '\n    '
    for (const record of records[name]) {
      yield separator
      if (old === undefined || changes?.has(name, record.id) !== false) yield recordJson(name, record)
      else yield* oldLine(old, record.id)
      separator = ',\n    '
    }
    yield '\n  ]'
  }
  yield '\n'
}

function* oldLine(old: OldLines, id: string): Iterable<Piece> {
  let line: Buffer | undefined
  while (line === undefined) {
    line = old.find(id)
    yield line
  }
}

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
