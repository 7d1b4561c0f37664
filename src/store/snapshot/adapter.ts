import { randomBytes } from 'node:crypto'
import { readdir } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { crc32 } from 'node:zlib'
import type { Adapter } from 'lowdb'
import {
  OWNER_ONLY,
  readWhole,
  removeFile,
  writeAll,
  type DiskFile,
  type OpenFile,
  type StoreFile,
} from '../disk.ts'
import {
  checksumLine,
  type Checksummed,
  OldLinesDiffer,
  openOldLines,
  type OldLines,
  snapshotText,
  type Piece,
  type Snapshot,
} from './text.ts'
import { parseSnapshot, readChecksummed } from './parse.ts'
import { replaceFile } from '../../replace-file.ts'
import { timers } from '../../timers.ts'

/** Bytes serialised per turn of the event loop, about 1 ms of work. */
const SLICE = 256 * 1024
/** Bytes written before a sync: a sync of the journal also waits for unwritten data of other files. */
const SYNC_EVERY = 4 * 1024 * 1024

/**
 * Creates lowdb's adapter for the snapshot. Reads `null` when there is none. Writes in slices between which other requests
 * run, and replaces the file atomically.
 */
export function snapshotAdapter(file: StoreFile, openFile: OpenFile): Adapter<Snapshot> {
  /** The checksum of the file on disk, when its lines can be copied. */
  let onDisk: Checksummed | undefined
  const replace = async (snapshot: Snapshot, copied?: Checksummed) => {
    const temporary = { path: newTemporary(dirname(file.path)) }
    const openOld = async () => (copied === undefined ? undefined : openOldLines(file.path, copied))
    try {
      const written = await writeDurably(await openFile(temporary.path, 'wx', OWNER_ONLY), snapshot, openOld)
      await replaceFile(temporary.path, file.path)
      onDisk = written
    } catch (error) {
      await removeFile(temporary).catch(() => {}) // Frees the space when the disk is full.
      throw error
    }
  }
  return {
    async read() {
      await removeTemporary(file)
      const written = await readChecksummed(file)
      onDisk = written?.checksummed
      if (written !== undefined) return written.snapshot
      const bytes = await readWhole(file)
      return bytes === undefined ? null : parseSnapshot(bytes, file)
    },
    async write(snapshot) {
      await replace(snapshot, onDisk).catch(async (error: unknown) => {
        if (!(error instanceof OldLinesDiffer)) throw error
        // The file was edited, damaged or removed meanwhile; memory counts.
        await replace(snapshot)
      })
    },
  }
}

/** Returns a new path for a temporary file, random because a link at a known path could redirect the write. */
export function newTemporary(directory: string): string {
  return join(directory, `db.json.${randomBytes(4).toString('hex')}.tmp`)
}

/** True for a temporary file, which an interrupted write has left. */
export function isTemporary(name: string): boolean {
  return /^db\.json\.(?:[0-9a-f]{8}\.)?tmp$/.test(name)
}

async function removeTemporary({ path }: StoreFile): Promise<void> {
  const directory = dirname(path)
  const leftovers = (await readdir(directory)).filter(isTemporary)
  for (const name of leftovers) await removeFile({ path: join(directory, name) })
}

async function writeDurably(
  file: DiskFile,
  snapshot: Snapshot,
  openOld: () => Promise<OldLines | undefined>,
): Promise<Checksummed> {
  let old: OldLines | undefined
  try {
    old = await openOld()
    const written = await writeText(file, snapshotText(snapshot, old), async () => old?.more())
    await old?.check()
    await file.datasync()
    return written
  } finally {
    await file.close()
    await old?.close()
  }
}

/** Most bytes of a UTF-16 unit in UTF-8. */
const MAX_BYTES_PER_CHARACTER = 3

/** Writes pieces of text in order. Encodes them directly into the write buffer, which saves a copy. */
async function writeText(
  file: DiskFile,
  pieces: Iterable<Piece>,
  readMore: () => Promise<void>,
): Promise<Checksummed> {
  const slice = Buffer.allocUnsafe(SLICE)
  let filled = 0
  let crc = 0
  let position = 0
  let synced = 0
  const write = async (bytes: Uint8Array) => {
    crc = crc32(bytes, crc)
    await writeAll(file, bytes, position)
    position += bytes.length
    if (position - synced < SYNC_EVERY) return
    await file.datasync()
    synced = position
  }
  const flush = async () => {
    await write(slice.subarray(0, filled))
    filled = 0
    await timers.nextTurn()
  }
  for (const piece of pieces) {
    if (piece === undefined) {
      await readMore()
      continue
    }
    const most = typeof piece === 'string' ? MAX_BYTES_PER_CHARACTER * piece.length : piece.length
    if (most > SLICE - filled) await flush()
    if (most > SLICE) await write(typeof piece === 'string' ? Buffer.from(piece) : piece)
    else filled += typeof piece === 'string' ? slice.write(piece, filled) : piece.copy(slice, filled)
  }
  await flush()
  const checksummed = { size: position, crc }
  await write(Buffer.from(checksumLine(crc)))
  return checksummed
}
