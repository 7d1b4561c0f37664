import { open, type FileHandle } from 'node:fs/promises'
import type { StoreFile } from '../disk.ts'
import { COMMA, createLineReader, eachLine } from './line-reader.ts'
import { createLineParser, snapshotFrom, textOf } from './parse.ts'
import { FORMAT, type Snapshot } from './text.ts'
import { LAST_BYTES, checksummedPart, type Checksummed } from './checksum.ts'

/**
 * Reads a snapshot with a valid checksum line by line, without its whole text in memory. `undefined` for any other file,
 * for which `parseSnapshot` has the errors.
 */
export async function readChecksummed(
  file: StoreFile,
): Promise<{ snapshot: Snapshot; checksummed: Checksummed } | undefined> {
  const opened = await open(file.path, 'r').catch(() => undefined)
  if (opened === undefined) return undefined
  try {
    const { size } = await opened.stat()
    const start = Math.max(size - LAST_BYTES, 0)
    const { buffer } = await opened.read(Buffer.alloc(LAST_BYTES), 0, LAST_BYTES, start)
    const checksummed = checksummedPart(buffer, size)
    if (checksummed === undefined) return undefined
    const content = await parseFile(opened, checksummed)
    return content?.format === FORMAT
      ? { snapshot: snapshotFrom(content, file.shown), checksummed }
      : undefined
  } finally {
    await opened.close()
  }
}

async function parseFile(
  file: FileHandle,
  { size, crc }: Checksummed,
): Promise<Record<string, unknown> | undefined> {
  const lines = createLineReader(file, size)
  const parser = createLineParser()
  try {
    await eachLine(lines, (line) => parser.take(textOf(line, COMMA)))
  } catch (error) {
    // The line is damaged; the checksum gives the better message.
    if (error instanceof SyntaxError) return undefined
    throw error
  }
  return lines.crc() === crc ? parser.content : undefined
}
