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
import { MAX_BYTES_PER_CHARACTER } from '../journal/line.ts'
import { OldLinesDiffer, openOldLines, type OldLines } from './old-lines.ts'
import { parseSnapshot } from './parse.ts'
import { readChecksummed } from './read.ts'
import { replaceFile, syncDirectory } from '../../replace-file.ts'
import { snapshotText, type Piece, type Snapshot } from './text.ts'
import { checksumLine, type Checksummed } from './checksum.ts'
import { timers } from '../../timers.ts'

/** How much is serialised, in bytes, before others have their turn: about a millisecond's work. */
const SLICE = 256 * 1024
/** How much is written, in bytes, before it is synced: a journal's sync waits for what other files have unwritten. */
const SYNC_EVERY = 4 * 1024 * 1024

/**
 * The file of lowdb's snapshot. Reading it gives `null` when there is none; writing it takes a while, in small steps
 * between which the service goes on, and replaces it as a whole or not at all.
 */
export function snapshotAdapter(file: StoreFile, openFile: OpenFile): Adapter<Snapshot> {
  /** What is on the disk, if it is as we write it: its lines can be copied. */
  let onDisk: Checksummed | undefined
  const replace = async (snapshot: Snapshot, copied?: Checksummed) => {
    const temporary = { path: `${file.path}.${randomBytes(4).toString('hex')}.tmp` }
    const openOld = async () => (copied === undefined ? undefined : openOldLines(file.path, copied))
    try {
      // A new file under a name that nobody can foresee: a link in its place would lead the writing elsewhere.
      const written = await writeDurably(await openFile(temporary.path, 'wx', OWNER_ONLY), snapshot, openOld)
      await replaceFile(temporary.path, file.path)
      onDisk = written
    } catch (error) {
      await removeFile(temporary).catch(() => {}) // A full disk is why it failed: this gives the room back.
      throw error
    }
  }
  return {
    async read() {
      await removeTemporary(file)
      const written = await readChecksummed(file)
      onDisk = written?.vouched
      if (written !== undefined) return written.snapshot
      const bytes = await readWhole(file)
      return bytes === undefined ? null : parseSnapshot(bytes, file)
    },
    async write(snapshot) {
      await replace(snapshot, onDisk).catch(async (error: unknown) => {
        if (!(error instanceof OldLinesDiffer)) throw error
        // Somebody has edited, damaged or removed the file meanwhile; what is in memory is what holds.
        await replace(snapshot)
      })
      await syncDirectory(dirname(file.path))
    },
  }
}

/** Whether a file is what an interrupted writing of the snapshot has left. */
export function isTemporary(name: string): boolean {
  return /^db\.json\.(?:[0-9a-f]{8}\.)?tmp$/.test(name)
}

async function removeTemporary({ path }: StoreFile): Promise<void> {
  const directory = dirname(path)
  const strays = (await readdir(directory)).filter(isTemporary)
  for (const name of strays) await removeFile({ path: join(directory, name) })
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

/**
 * Writes pieces of text, in order. They are encoded straight into the bytes that are written: a long text put together
 * of short ones would have to be copied twice.
 */
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
