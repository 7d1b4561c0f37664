import { constants } from 'node:buffer'
import { crc32 } from 'node:zlib'
import type { Check } from '../../model/check.ts'
import type { StoreFile } from '../disk.ts'
import { REPAIR_ADVICE, StoreDamaged, StoreTooNew } from '../errors.ts'
import { COMMA, createLineReader, eachLine } from './line-reader.ts'
import { recordFrom } from '../record-json.ts'
import { checksummedPart, FORMAT, LAST_BYTES, type Checksummed, type Snapshot } from './text.ts'
import { collectionNames } from '../tables/tables.ts'
import { open, type FileHandle } from 'node:fs/promises'

/** Parses a snapshot. @throws StoreDamaged when it is damaged or another file; StoreTooNew when a newer version wrote it. */
export function parseSnapshot(bytes: Buffer, { shown }: StoreFile): Snapshot {
  refuseNewer(bytes, shown)
  const end = checkedEnd(bytes, shown)
  if (end !== undefined) return snapshotFrom(parseLines(bytes.subarray(0, end)), shown)
  // Without a checksum, the file was written or edited by hand and accepted as it is, without a journal.
  return { ...snapshotFrom(parseEdited(bytes, shown), shown), closed: true }
}

/** Comes first, since the checksum of a newer version is unknown. */
function refuseNewer(bytes: Buffer, shown: string): void {
  const format = /^\s*\{\s*"format":\s*(\d+)/.exec(bytes.toString('latin1', 0, 100))?.[1]
  if (Number(format) > FORMAT) throw otherFormat(shown, Number(format))
}

/** @throws StoreDamaged when a JSON object is not a snapshot's content. */
function snapshotFrom(content: Record<string, unknown>, shown: string): Snapshot {
  const { format, sequence = 0, closed = false, checksum: _checksum, ...collections } = content
  if (format !== FORMAT) throw otherFormat(shown, format)
  if (!Number.isSafeInteger(sequence) || Number(sequence) < 0)
    throw notASnapshot(shown, '"sequence" is not a whole number')
  const unknownName = Object.keys(collections).find(
    (name) => !collectionNames.some((known) => known === name),
  )
  if (unknownName !== undefined)
    throw notASnapshot(shown, `${JSON.stringify(unknownName)} is not a collection`)
  const records = Object.fromEntries(
    collectionNames.map((name) => [name, recordsIn(name, collections[name] ?? [], shown)]),
  )
  return {
    sequence: Number(sequence),
    closed: closed === true,
    records: records as unknown as Snapshot['records'],
  }
}

function otherFormat(shown: string, format: unknown): StoreDamaged {
  const what = `${shown} is not a snapshot that this version of Tabwire can read: its "format" is ${JSON.stringify(format)}, not ${FORMAT}`
  return Number(format) > FORMAT
    ? new StoreTooNew(
        `${what}. Nothing was changed. Use the version that wrote it, or choose another directory.`,
      )
    : new StoreDamaged(`${what}. ${REPAIR_ADVICE}`)
}

/** Returns the end of the text that the checksum covers; `undefined` without a checksum. */
function checkedEnd(bytes: Buffer, shown: string): number | undefined {
  const part = checksummedPart(bytes, bytes.length)
  if (part !== undefined && part.crc !== crc32(bytes.subarray(0, part.size)))
    throw edited(shown, lineAt(bytes, part.size))
  return part?.size
}

/** Parses the exact layout of `snapshotText`, record by record: the whole may exceed the length of a string. */
function parseLines(bytes: Buffer): Record<string, unknown> {
  const parser = createLineParser()
  for (const line of linesOf(bytes, COMMA)) parser.take(line)
  return parser.content
}

function createLineParser() {
  const content: Record<string, unknown> = {}
  const shareTexts = createTextSharing()
  let records: unknown[] = []
  return {
    content,
    /** Parses the next line, without its comma. */
    take(line: string): void {
      if (line.startsWith('    ')) {
        const record: unknown = JSON.parse(line)
        if (records === content.checks) shareTexts(record as Partial<Check>)
        records.push(record)
        return
      }
      const [, name, value] = /^ {2}"(\w+)": (?:\[|(\d+|true|false))$/.exec(line) ?? []
      if (name !== undefined) content[name] = value === undefined ? (records = []) : JSON.parse(value)
    },
  }
}

/**
 * Returns the lines of a text, each without a trailing `without` byte. Cutting a string would copy it. A line that is
 * longer than a string can be is returned as U+FFFD.
 */
export function* linesOf(bytes: Buffer, without?: number): Iterable<string> {
  for (let start = 0, end; start < bytes.length; start = end + 1) {
    end = bytes.indexOf('\n', start)
    if (end === -1) end = bytes.length
    yield isTooLong(end - start) ? '\ufffd' : textOf(bytes.subarray(start, end), without)
  }
}

/** True for more bytes than a string can hold, 512 MiB. */
export function isTooLong(bytes: number): boolean {
  return bytes > constants.MAX_STRING_LENGTH
}

export function textOf(line: Buffer, without: number | undefined): string {
  return line.toString('utf8', 0, line.at(-1) === without ? line.length - 1 : line.length)
}

/** Parses a file that was written or edited by hand, in any layout. */
function parseEdited(bytes: Buffer, shown: string): Record<string, unknown> {
  if (isTooLong(bytes.length))
    throw notASnapshot(shown, `without a checksum, it can have at most ${constants.MAX_STRING_LENGTH} bytes`)
  const text = bytes.toString()
  if (text.startsWith('\ufeff'))
    throw notASnapshot(shown, 'it begins with a byte order mark; save it as UTF-8 without one')
  const content = parseJson(text, shown)
  if (typeof content !== 'object' || content === null || Array.isArray(content))
    throw notASnapshot(shown, 'it is not a JSON object')
  if ('checksum' in content && 'format' in content && content.format === FORMAT)
    throw edited(shown, lineAt(bytes, bytes.lastIndexOf('"checksum"')))
  return content as Record<string, unknown>
}

function parseJson(text: string, shown: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    const place = lineOfMistake(text, error)
    throw new StoreDamaged(`${shown}${place} is damaged: it is not JSON. ${REPAIR_ADVICE}`, { cause: error })
  }
}

/** Returns the line of a JSON error. When the parser does not give it, returns the first record that does not parse. */
function lineOfMistake(text: string, error: unknown): string {
  const position = /at position (\d+)/.exec(String(error))?.[1]
  if (position !== undefined) return ` line ${text.slice(0, Number(position)).split('\n').length}`
  const lines = text.split('\n')
  const index = lines.findIndex((line) => line.startsWith('    {') && !isJson(line.replace(/,$/, '')))
  return index === -1 ? '' : ` line ${index + 1}`
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

function edited(shown: string, line: number): StoreDamaged {
  return new StoreDamaged(
    `${shown} was changed: the checksum in line ${line} does not match. If you edited the file on purpose, delete line ${line}. ${REPAIR_ADVICE}`,
  )
}

function lineAt(bytes: Buffer, end: number): number {
  let line = 1
  for (let at = bytes.indexOf('\n'); at !== -1 && at < end; at = bytes.indexOf('\n', at + 1)) line += 1
  return line
}

function recordsIn(name: string, value: unknown, shown: string): readonly { id: string }[] {
  if (!Array.isArray(value)) throw notASnapshot(shown, `"${name}" is not an array`)
  return value.map((found: unknown, index) => {
    const record = recordFrom(name, found)
    const what = name === 'events' ? 'an "id" and a "body" in JSON' : 'an "id"'
    if (record === undefined) throw notASnapshot(shown, `${name}[${index}] is not an object with ${what}`)
    return record
  })
}

/** Texts shared at a time: more than the dishes of a restaurant. */
const SHARED_TEXTS = 10_000

/**
 * Makes checks share repeated texts: locations, item names, and times of unchanged checks. 300,000 checks of three items
 * take 200 MB instead of 250 MB.
 */
export function createTextSharing(): (check: Partial<Check>) => void {
  const known = new Map<string, string>()
  const shared = (text: string) => {
    const one = known.get(text)
    if (one !== undefined) return one
    if (known.size >= SHARED_TEXTS) known.clear()
    known.set(text, text)
    return text
  }
  return (check) => {
    const { location_id, items, created_at, updated_at } = check
    if (typeof location_id === 'string') check.location_id = shared(location_id)
    if (created_at !== undefined && updated_at === created_at) check.updated_at = created_at
    if (Array.isArray(items))
      for (const item of items as Partial<Check['items'][number]>[])
        if (typeof item.name === 'string') item.name = shared(item.name)
  }
}

/** Returns the error for a readable file that is not a snapshot. */
export function notASnapshot(shown: string, why: string): StoreDamaged {
  return new StoreDamaged(`${shown} is not a snapshot of Tabwire: ${why}. ${REPAIR_ADVICE}`)
}

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
